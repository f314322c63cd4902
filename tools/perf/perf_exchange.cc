// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_exchange.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "tools/perf/perf_pattern.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

// Small messages of a stream cycle through as much memory as large ones, so that caches are no warmer than in
// a real program. The programs in bench/floors, with which this is compared, do the same.
constexpr std::uint64_t kStreamBytes = 4U << 20;
constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kMemoryMax = 16ULL << 30;
constexpr std::uint64_t kWindowMax = 65536;

std::uint64_t round_up(std::uint64_t n, std::uint64_t to) {
  return (n + to - 1) / to * to;
}

}  // namespace

Region::~Region() {
  if (data_) ::munmap(data_, bytes_);
}

bool Region::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return true;
  if (data_) ::munmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
  // MAP_POPULATE, because a page fault must not be measured.
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  return true;
}

void PerfExchange::meet(MxPort& port, const mx_endpoint_addr_t& peer, std::uint32_t client) {
  port_ = &port;
  peer_ = peer;
  port.set_peer(peer);
  match_ = match_of(PerfKind::data, client);
}

bool PerfExchange::sends() const {
  const auto test = static_cast<PerfTest>(step_.test);
  return is_client_ || test == PerfTest::pingpong || test == PerfTest::bistream;
}

bool PerfExchange::receives() const {
  const auto test = static_cast<PerfTest>(step_.test);
  return !is_client_ || test == PerfTest::pingpong || test == PerfTest::bistream;
}

Result<bool> PerfExchange::prepare(const PerfStep& step) {
  const bool known = step.test <= static_cast<std::uint64_t>(PerfTest::rate);
  if (!known || step.size > 0xFFFFFFFF || !step.window || step.window > kWindowMax) return false;
  step_ = step;
  mismatch_.reset();
  const bool pingpong = static_cast<PerfTest>(step.test) == PerfTest::pingpong;
  stride_ = round_up(step.size + kGuardBytes, kLine);
  // Messages in flight at the same time may share memory unless their contents are checked.
  places_ = pingpong ? 1 : step.verify ? step.window : std::max<std::uint64_t>(kStreamBytes / stride_, 1);
  const std::uint64_t bytes = stride_ * places_;
  if (bytes > kMemoryMax) return false;
  if (!outgoing_.reserve(bytes) || !incoming_.reserve(bytes)) return false;

  sending_.assign(step.window, nullptr);
  receiving_.assign(step.window, nullptr);
  if (!receives() || (pingpong && is_client_)) return true;
  const std::uint64_t first = pingpong ? 1 : std::min(step.window, step.count);
  for (std::uint64_t i = 0; i < std::min(first, step.count); i++) {
    if (auto posted = post_receive(i); !posted) return tl::unexpected(posted.error());
  }
  return true;
}

Result<void> PerfExchange::run(PerfHistogram* times) {
  if (static_cast<PerfTest>(step_.test) == PerfTest::pingpong)
    return is_client_ ? pingpong_client(times) : pingpong_server();
  return stream(sends(), receives());
}

Result<void> PerfExchange::complete(mx_request_t request, mx_status_t& status) {
  if (port_->quick_complete(request, status)) {
    if (status.code == MX_STATUS_SUCCESS && status.msg_length == status.xfer_length) return {};
    auto judged = MxPort::judge(status);
    if (!judged) return tl::unexpected(judged.error());
    return {};
  }
  auto completed = port_->complete(request);
  if (!completed) return tl::unexpected(completed.error());
  status = *completed;
  return {};
}

Result<void> PerfExchange::post_receive(std::uint64_t number) {
  std::byte* data = place(incoming_, number);
  if (step_.verify) guard_fill(data + step_.size);
  mx_request_t& request = receiving_[turn_of(number, step_.window)];
  const mx_return_t code = port_->quick_receive(data, step_.size, match_, request);
  if (code != MX_SUCCESS) return MxPort::failure(code);
  return {};
}

Result<void> PerfExchange::take_receive(std::uint64_t number) {
  mx_status_t status;
  if (auto r = complete(receiving_[turn_of(number, step_.window)], status); !r) return r;
  if (status.xfer_length != step_.size) {
    return fail(MX_FAILURE, fmt::format("message {} of {} bytes arrived with {} bytes", number, step_.size,
                                        status.xfer_length));
  }
  if (!step_.verify || mismatch_) return {};
  const std::byte* data = place(incoming_, number);
  const auto wrong = pattern_check({data, step_.size}, pattern_seed(step_.size, number, !is_client_));
  if (wrong) {
    mismatch_ = Mismatch{number, *wrong};
  } else if (!guard_intact(data + step_.size)) {
    mismatch_ = Mismatch{number, step_.size};
  }
  return {};
}

Result<void> PerfExchange::post_send(std::uint64_t number) {
  std::byte* data = place(outgoing_, number);
  if (step_.verify) pattern_fill({data, step_.size}, pattern_seed(step_.size, number, is_client_));
  mx_request_t& request = sending_[turn_of(number, step_.window)];
  const mx_return_t code = port_->quick_send(peer_, data, step_.size, match_, step_.sync != 0, request);
  if (code != MX_SUCCESS) return MxPort::failure(code);
  return {};
}

Result<void> PerfExchange::take_send(std::uint64_t number) {
  mx_status_t status;
  return complete(sending_[turn_of(number, step_.window)], status);
}

Result<void> PerfExchange::pingpong_client(PerfHistogram* times) {
  Clock::time_point before = Clock::now();
  for (std::uint64_t i = 0; i < step_.count; i++) {
    if (auto r = post_receive(i); !r) return r;
    if (auto r = post_send(i); !r) return r;
    // The send completes while the ping travels, as with a blocking send.
    if (auto r = take_send(i); !r) return r;
    if (auto r = take_receive(i); !r) return r;
    const Clock::time_point after = Clock::now();
    if (times) times->add(static_cast<std::uint64_t>(std::chrono::nanoseconds(after - before).count()));
    before = after;
  }
  return {};
}

Result<void> PerfExchange::pingpong_server() {
  for (std::uint64_t i = 0; i < step_.count; i++) {
    if (auto r = take_receive(i); !r) return r;
    if (auto r = post_send(i); !r) return r;
    // The next receive is posted in time: the client sends its next ping only after it has our answer.
    if (i + 1 < step_.count) {
      if (auto r = post_receive(i + 1); !r) return r;
    }
    if (auto r = take_send(i); !r) return r;
  }
  return {};
}

Result<void> PerfExchange::stream(bool sends, bool receives) {
  const std::uint64_t window = std::min(step_.window, step_.count);
  for (std::uint64_t i = 0; sends && i < window; i++) {
    if (auto r = post_send(i); !r) return r;
  }
  for (std::uint64_t i = 0; i < step_.count; i++) {
    const bool more = i + window < step_.count;
    if (receives) {
      if (auto r = take_receive(i); !r) return r;
      if (more) {
        if (auto r = post_receive(i + window); !r) return r;
      }
    }
    if (sends) {
      if (auto r = take_send(i); !r) return r;
      if (more) {
        if (auto r = post_send(i + window); !r) return r;
      }
    }
  }
  return {};
}

}  // namespace omx::tools
