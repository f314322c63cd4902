// SPDX-License-Identifier: BSD-3-Clause
// mx_get_info and omx_get_info: what both read, and how they hand it over (docs/spec/mx-api.md 6).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mx/call.h"

namespace omx::mx {

// The arguments of one call. Each function that answers returns what the call returns.
class InfoQuery {
 public:
  InfoQuery(Call& call, runtime::Process& process, runtime::Endpoint* endpoint, const void* in_val,
            std::uint32_t in_len, void* out_val, std::uint32_t out_len)
      : call_(call),
        process_(process),
        endpoint_(endpoint),
        in_val_(in_val),
        in_len_(in_len),
        out_val_(out_val),
        out_len_(out_len) {}

  int bad_key(int key) { return call_.fail(OMX_BAD_INFO_KEY, "no information has key {}", key); }

  // Answer the call: write to the output, and return the code.
  int number(std::uint32_t value) { return bytes(&value, sizeof value); }
  int text(std::string_view value);  // cut to the room of the output, always with a final NUL
  int nic_ids();
  int counter_labels();
  int counter_values();
  int numa_node();
  int board_text(std::string runtime::Board::*field);
  int interface_name();
  int counter_label();

  // Return facts that several answers need.
  std::uint32_t board_count() const { return static_cast<std::uint32_t>(process_.boards().size()); }
  std::uint32_t copy_send_max() const;
  const runtime::Settings& settings() const { return process_.settings(); }

  // Calls `answer(board)` for the board in question: the endpoint's, or without an endpoint the one in
  // in_val.
  template <class Answer>
  int with_board(Answer&& answer) {
    if (endpoint_) return answer(endpoint_->board());
    std::uint8_t number = 0;
    if (int code; !in_byte(number, code)) return code;
    if (number >= process_.boards().size())
      return call_.fail(OMX_BOARD_UNKNOWN, "board {} of {}", number, process_.boards().size());
    return answer(process_.boards()[number]);
  }

 private:
  // Reads the first input byte. Returns false when there is none, and `answer` is then what the call returns.
  bool in_byte(std::uint8_t& value, int& answer);
  // Checks the room for the answer. Returns false when it is less than `length`; then `answer` is what the
  // call returns.
  bool room(std::size_t length, int& answer);
  int bytes(const void* data, std::size_t length);

  Call& call_;
  runtime::Process& process_;
  runtime::Endpoint* endpoint_;
  const void* in_val_;
  std::uint32_t in_len_;
  void* out_val_;
  std::uint32_t out_len_;
};

// Runs `body(query)`. The endpoint may be NULL.
template <class Return, class Body>
Return info_call(const char* function, const void* ep, const void* in_val, std::uint32_t in_len,
                 void* out_val, std::uint32_t out_len, Body&& body) {
  auto ask = [&](Call& call, runtime::Process& p, runtime::Endpoint* endpoint) {
    InfoQuery query(call, p, endpoint, in_val, in_len, out_val, out_len);
    return body(query);
  };
  if (!ep)
    return library_call<Return>(function,
                                [&](Call& call, runtime::Process& p) { return ask(call, p, nullptr); });
  return endpoint_call<Return>(function, ep,
                               [&](Call& call) { return ask(call, *process(), &call.endpoint()); });
}

}  // namespace omx::mx
