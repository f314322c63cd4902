// SPDX-License-Identifier: BSD-3-Clause
// How requests end. See request.h for the two lives of a request.
#include <cassert>
#include <cstring>

#include "protocol/state.h"

namespace omx::protocol {

Request* request_create(State& s, RequestKind kind) {
  Request* r = s.requests.create(kind, &s);
  if (r) r->timeout = s.default_timeout;
  return r;
}

std::uint32_t context_id(const State& s, std::uint64_t match_info) {
  const std::uint64_t mask = (std::uint64_t{1} << s.config.context_bits) - 1;
  return static_cast<std::uint32_t>((match_info >> s.config.context_shift) & mask);
}

bool request_held(const State& s, const Request* r) {
  // Bytes, as there may be no request any more: a slab puts its own pointer there.
  const State* home = nullptr;
  std::memcpy(&home, static_cast<const void*>(r), sizeof(home));
  return home == &s && !r->user_gone;
}

namespace {

void request_free(State& s, Request& r) {
  assert(!r.queue.linked() && !r.match.linked() && !r.done.linked());
  if (r.multi) multi_free(s, r);
  r.segments.clear(s.segment_lists);
  send_release_buffer(s, r);
  s.requests.destroy(&r);
}

void announce(State& s, Request& r) {
  s.completions++;
  if (r.hidden) return;
  s.done.push_back(r);
  if (!s.done_by_context.empty()) s.done_by_context[context_id(s, r.match_info)]->push_back(r);
}

bool zombie(const Request& r) {
  return r.user_done && r.phase != Phase::finished && !r.waits;
}

}  // namespace

void request_user_done(State& s, Request& r, Status status) {
  assert(!r.user_done);
  r.user_done = true;
  r.status = status;
  if (status != Status::success) [[unlikely]]
    history_note(s, Happened::failed, r.partner, r.match_info, r.msg_length);
  if (zombie(r)) s.zombies++;
  if (!r.user_gone) announce(s, r);
  if (r.multi && r.multi->posted != &r) multi_ended(s, r);
}

void request_protocol_done(State& s, Request& r) {
  if (zombie(r)) s.zombies--;
  r.phase = Phase::finished;
  send_release_buffer(s, r);
  if (r.user_done && r.user_gone) request_free(s, r);
}

void request_finish(State& s, Request& r, Status status) {
  if (r.user_done) {
    request_protocol_done(s, r);
    return;
  }
  if (r.waits) s.room.awaiting--;
  r.phase = Phase::finished;
  if (s.uncopied == &r) s.uncopied = nullptr;
  request_user_done(s, r, status);
  if (r.user_gone) request_free(s, r);
}

void request_user_gone(State& s, Request& r) {
  r.user_gone = true;
  r.done.unlink();
  r.done_context.unlink();
  if (r.user_done && r.phase == Phase::finished) request_free(s, r);
}

}  // namespace omx::protocol
