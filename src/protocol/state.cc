// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state.h"

#include <algorithm>
#include <limits>

#include "protocol/claimed.h"

namespace omx::protocol {

State::State(const Config& c, wire::FrameSink& frame_sink, Counters& endpoint_counters)
    : config(c),
      sink(frame_sink),
      counters(endpoint_counters),
      default_timeout(c.peer_timeout),
      buffers(c.buffer_bytes),
      send_buffers(c.send_buffer_bytes),
      segment_lists(std::numeric_limits<std::size_t>::max()),
      partner_hash(64, nullptr),
      regions(c.regions_most) {
  config.mtu = std::clamp(c.mtu, kMtuLeast, kMtuMost);
  own_frame = config.mtu + static_cast<std::uint32_t>(wire::kEthernetHeader);
  partners.reserve(16);
  pulls_init(*this);
  if (c.context_bits > 0)
    for (std::uint32_t i = 0; i < (1U << c.context_bits); i++)
      done_by_context.push_back(std::make_unique<List<Request, &Request::done_context>>());
  myself = partner_create(*this, c.nic, c.endpoint);
  if (!myself) return;
  myself->self = true;
  myself->true_session = myself->back_session = c.session;
  myself->next_send = myself->next_acked = kSeqFirst;
}

State::~State() {
  closing = true;
  handler = nullptr;
  config.observer = nullptr;
  config.history = nullptr;
  for (Partner* p : partners) {
    partner_cleanup(*this, *p, Cleanup::disconnected);
    timers.cancel(p->ack_timer);
    timers.cancel(p->resend_timer);
  }
  claimed_drop_all(*this);
  while (Request* r = posted.any()) {
    posted.remove(*r);
    r->queue.unlink();  // one that waits for an instance that never came
    request_finish(*this, *r, Status::aborted);
  }
  while (Unexpected* u = unexpected.front()) {
    unexpected.remove(*u);
    if (u->self_send) request_finish(*this, *u->self_send, Status::aborted);
    unexpected_free(*this, *u);
  }
  while (Request* r = lost.pop_front()) request_user_gone(*this, *r);
  while (Request* r = done.front()) request_user_gone(*this, *r);
  room_return(*this);
  for (Partner* p : partners) partner_slab.destroy(p);
}

}  // namespace omx::protocol
