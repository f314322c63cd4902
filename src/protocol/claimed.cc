// SPDX-License-Identifier: BSD-3-Clause
// Unexpected messages that the application has looked at and taken out of matching, to receive or discard
// them later (docs/spec/libfabric.md 2.5: peek and claim).
#include "protocol/claimed.h"

namespace omx::protocol {

namespace {

wire::Rndv announcement(const Unexpected& u) {
  wire::Rndv rndv;
  rndv.msg_length = u.msg_length;
  rndv.rdma_id = u.region;
  rndv.rdma_seqnum = u.region_generation;
  rndv.rdma_offset = u.region_offset;
  rndv.page = u.region_page;
  return rndv;
}

}  // namespace

void message_receive(State& s, Request& r, Unexpected& u) {
  if (u.self_send) return self_match(s, r, u);
  receive_matched(r, u.partner, u.session, u.match_info, u.msg_length, u.has_data, u.data);
  r.conversation = u.conversation;
  if (u.failed != Status::success) {
    const Status status = u.failed;
    unexpected_free(s, u);
    r.xfer_length = 0;
    return request_finish(s, r, status);
  }
  if (u.rendezvous) {
    const wire::Rndv rndv = announcement(u);
    const bool gone = u.conversation != u.partner->conversation || !u.partner->connected();
    unexpected_free(s, u);
    if (!gone) return receive_rndv(s, r, rndv, nullptr);
    r.xfer_length = 0;  // whoever announced it while we kept it
    request_finish(s, r, Status::endpoint_unreachable);
  } else if (u.complete) {
    r.segments.write(0, u.buffer, r.xfer_length);
    unexpected_free(s, u);
    receive_complete(s, r);
  } else {
    u.claimed = &r;  // the last fragment will complete it
  }
}

Unexpected* message_claim(State& s, std::uint64_t match_info, std::uint64_t match_mask, const Partner* source,
                          std::uint32_t session, std::uint8_t message_class) {
  Unexpected* u = s.unexpected.find(match_info, match_mask, source, session, message_class);
  // One that is still arriving may be given up by its sender. It is the next in line all the same.
  if (!u || !(u->complete || u->rendezvous)) return nullptr;
  s.unexpected.remove(*u);
  s.claimed.push_back(*u);
  return u;
}

bool claimed_discard(State& s, Unexpected& u) {
  Request* r = request_create(s, RequestKind::receive);
  if (!r) return false;
  r->user_gone = true;
  s.claimed.remove(u);
  message_receive(s, *r, u);
  return true;
}

void claimed_drop_all(State& s) {
  while (Unexpected* u = s.claimed.pop_front()) {
    if (u->self_send) request_finish(s, *u->self_send, Status::aborted);
    unexpected_free(s, *u);
  }
}

}  // namespace omx::protocol
