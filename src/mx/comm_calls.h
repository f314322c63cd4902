// SPDX-License-Identifier: BSD-3-Clause
// Sending and receiving, for both interfaces (docs/spec/mx-api.md 4.5).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "mx/call.h"

namespace omx::mx {

// The caller's segments as the engine takes them. Lists longer than a few are rare and may cost an
// allocation.
class SegmentsIn {
 public:
  // Takes the list. Returns false when it is refused, and `answer` is then what the call returns.
  template <class Api>
  [[gnu::always_inline]] bool take(Call& call, const typename Api::Segment* list, std::uint32_t count,
                                   int& answer) {
    if (count != 1 || !list || (!Api::base(*list) && Api::length(*list) > 0)) [[unlikely]]
      return take_list<Api>(call, list, count, answer);
    one_ = {static_cast<std::byte*>(Api::base(*list)), Api::length(*list)};
    segments_ = {&one_, 1};
    return true;
  }

  std::span<const protocol::Segment> get() const { return segments_; }

 private:
  template <class Api>
  [[gnu::noinline]] bool take_list(Call& call, const typename Api::Segment* list, std::uint32_t count,
                                   int& answer) {
    if (count > protocol::kMaxSegments)
      return refuse(answer, call.fail(OMX_BAD_SEG_CNT, "{} segments given, {} possible", count,
                                      protocol::kMaxSegments));
    if (count > 0 && !list)
      return refuse(answer, call.fail(OMX_BAD_SEG_LIST, "{} segments, but no list", count));
    if (count > kFew) many_ = std::make_unique<protocol::Segment[]>(count);
    segments_ = {many_ ? many_.get() : few_.emplace().data(), count};
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < count; i++) {
      auto* const base = static_cast<std::byte*>(Api::base(list[i]));
      const std::uint32_t length = Api::length(list[i]);
      if (!base && length > 0)
        return refuse(answer,
                      call.fail(OMX_BAD_SEG_MEM, "segment {} of {} bytes is at address NULL", i, length));
      segments_[i] = {base, length};
      total += length;
    }
    if (total > std::numeric_limits<std::uint32_t>::max())
      return refuse(answer,
                    call.fail(OMX_BAD_SEG_LIST, "{} bytes given, a message has at most 4294967295", total));
    return true;
  }

  static bool refuse(int& answer, int code) {
    answer = code;
    return false;
  }

  static constexpr std::size_t kFew = 4;

  protocol::Segment one_;
  std::optional<std::array<protocol::Segment, kFew>> few_;  // made only when needed
  std::unique_ptr<protocol::Segment[]> many_;
  std::span<protocol::Segment> segments_;
};

// Hands a posted request to the caller, or fails. `request` is nullptr for a forgotten one.
template <class Api>
int posted(Call& call, const Expected<Request*, OpError>& outcome, typename Api::Request* request) {
  if (!outcome) return call.fail(outcome.error());
  if (request) *request = request_out<typename Api::Request>(*outcome);
  return OMX_SUCCESS;
}

// Send and receive. The arguments are those of myriexpress.h.
template <class Api>
typename Api::Return send(const char* function, typename Api::Endpoint ep, const typename Api::Segment* list,
                          std::uint32_t count, typename Api::Address dest, std::uint64_t match_info,
                          void* context, typename Api::Request* request, bool synchronous) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    SegmentsIn segments;
    if (int answer; !segments.take<Api>(call, list, count, answer)) return answer;
    protocol::SendOp op;
    op.segments = segments.get();
    op.match_info = match_info;
    op.context = context;
    op.synchronous = synchronous;
    op.forgotten = !request;
    const auto outcome = call.endpoint().send(address_in(dest), op);
    if (!outcome && outcome.error() == OpError::bad_request)
      return call.fail(OMX_BAD_REQUEST, "the destination is not an address of this endpoint");
    return posted<Api>(call, outcome, request);
  });
}

template <class Api>
typename Api::Return receive(const char* function, typename Api::Endpoint ep,
                             const typename Api::Segment* list, std::uint32_t count, std::uint64_t match_info,
                             std::uint64_t match_mask, void* context, typename Api::Request* request) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    SegmentsIn segments;
    if (int answer; !segments.take<Api>(call, list, count, answer)) return answer;
    protocol::ReceiveOp op;
    op.segments = segments.get();
    op.match_info = match_info;
    op.match_mask = match_mask;
    op.context = context;
    op.forgotten = !request;
    return posted<Api>(call, call.endpoint().receive(op), request);
  });
}

}  // namespace omx::mx
