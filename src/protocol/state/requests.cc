// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/requests.h"

#include <cstring>

#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

Request* request_create(State& s, RequestKind kind) {
  Request* r = s.memory.requests.create(kind, &s);
  if (r) r->timeout = s.default_timeout;
  return r;
}

std::uint32_t context_id(const State& s, std::uint64_t match_info) {
  const std::uint64_t mask = (std::uint64_t{1} << s.config.context_bits) - 1;
  return static_cast<std::uint32_t>((match_info >> s.config.context_shift) & mask);
}

bool request_held(const State& s, const Request* r) {
  // The member is read as bytes, because the request may have been freed. The slab puts its own pointer
  // there.
  const State* home = nullptr;
  std::memcpy(&home, static_cast<const void*>(r), sizeof(home));
  return home == &s && !r->user_gone;
}

}  // namespace omx::protocol
