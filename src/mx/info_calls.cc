// SPDX-License-Identifier: BSD-3-Clause
#include "mx/info_calls.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace omx::mx {

namespace {

constexpr std::uint32_t kUnknownNode = 0xffffffff;

}  // namespace

bool InfoQuery::in_byte(std::uint8_t& value, int& answer) {
  if (!in_val_ || in_len_ < 1) {
    answer = call_.fail(OMX_BAD_INFO_VAL, "this information needs an input value");
    return false;
  }
  // The tools of MX pass wider numbers, whose first byte is the number (docs/spec/mx-api.md 6).
  std::memcpy(&value, in_val_, 1);
  return true;
}

bool InfoQuery::room(std::size_t length, int& answer) {
  if (!out_val_)
    answer = call_.fail(OMX_BAD_INFO_VAL, "out_val is NULL");
  else if (out_len_ < length)
    answer = call_.fail(OMX_BAD_INFO_LENGTH, "{} bytes of room, {} needed", out_len_, length);
  else
    return true;
  return false;
}

int InfoQuery::bytes(const void* data, std::size_t length) {
  if (int answer; !room(length, answer)) return answer;
  std::memcpy(out_val_, data, length);
  return OMX_SUCCESS;
}

int InfoQuery::text(std::string_view value) {
  if (int answer; !room(1, answer)) return answer;
  const std::size_t length = std::min<std::size_t>(value.size(), out_len_ - 1);
  auto* out = static_cast<char*>(out_val_);
  std::memcpy(out, value.data(), length);
  out[length] = '\0';
  return OMX_SUCCESS;
}

int InfoQuery::nic_ids() {
  std::vector<std::uint64_t> ids;
  for (const runtime::Board& board : process_.boards()) ids.push_back(board.interface.nic);
  ids.push_back(0);
  return bytes(ids.data(), ids.size() * sizeof ids[0]);
}

int InfoQuery::counter_labels() {
  std::vector<char> labels(protocol::kCounterCount * MX_MAX_STR_LEN);
  for (std::size_t i = 0; i < protocol::kCounterCount; i++)
    std::snprintf(&labels[i * MX_MAX_STR_LEN], MX_MAX_STR_LEN, "%s", protocol::kCounterLabels[i]);
  return bytes(labels.data(), labels.size());
}

int InfoQuery::counter_values() {
  return with_board([this](const runtime::Board& board) {
    protocol::Counters sum;
    const auto add = [&sum](runtime::Endpoint& endpoint) {
      const protocol::Counters counters = endpoint.counters();
      for (std::size_t i = 0; i < protocol::kCounterCount; i++) sum.values[i] += counters.values[i];
    };
    if (endpoint_) {
      add(*endpoint_);
    } else {
      process()->endpoints_visit([&](runtime::Endpoint& endpoint) {
        if (endpoint.board().number == board.number) add(endpoint);
      });
    }
    std::uint32_t low[protocol::kCounterCount];
    std::copy(sum.values.begin(), sum.values.end(), low);
    return bytes(low, sizeof low);
  });
}

int InfoQuery::numa_node() {
  return with_board([this](const runtime::Board& board) {
    const int node = board.interface.numa_node;
    return number(node < 0 ? kUnknownNode : static_cast<std::uint32_t>(node));
  });
}

int InfoQuery::board_text(std::string runtime::Board::*field) {
  return with_board([&](const runtime::Board& board) { return text(board.*field); });
}

int InfoQuery::interface_name() {
  return with_board([this](const runtime::Board& board) { return text(board.interface.name); });
}

int InfoQuery::counter_label() {
  std::uint8_t index = 0;
  if (int answer; !in_byte(index, answer)) return answer;
  if (index >= protocol::kCounterCount)
    return call_.fail(OMX_BAD_INFO_VAL, "counter {} of {}", index, protocol::kCounterCount);
  return text(protocol::kCounterLabels[index]);
}

std::uint32_t InfoQuery::copy_send_max() const {
  return endpoint_ ? endpoint_->eager_max() : settings().protocol.rndv_threshold;
}

}  // namespace omx::mx
