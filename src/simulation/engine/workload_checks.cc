// SPDX-License-Identifier: BSD-3-Clause
// The conditions that hold in every workload.
#include "simulation/engine/workload_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/state/peer.h"
#include "simulation/engine/leftovers.h"

namespace omx::simulation {

using protocol::Completion;
using protocol::Request;
using protocol::RequestKind;
using protocol::Status;

void HostObserver::on_arrival(const protocol::Peer& from, std::uint64_t info, const Request* receive) {
  run_.arrived(run_.instance(host_), from, info, receive);
}

void HostObserver::on_dropped(const protocol::Peer&, std::uint64_t info) {
  run_.dropped(run_.instance(host_), info);
}

void HostObserver::on_forget(const protocol::Peer& peer, protocol::Cleanup why) {
  run_.forget(run_.instance(host_), peer, why);
}

void WorkloadChecks::fail(const std::string& text) {
  if (failure_.empty()) failure_ = text;
  if (trace_) trace_->line(world_.now(), "FAILURE: " + text);
}

void WorkloadChecks::note(const Operation& o, const std::string& text) {
  if (trace_) trace_->line(world_.now(), fmt::format("operation {} of {}: {}", o.id, o.host, text));
}

void WorkloadChecks::message_matched(Operation& receive, std::uint64_t message) {
  receive.expected = message;
  receive.matched = operation(message).matched = world_.now();
  receive.losses = operation(message).receiver_losses;
  receive.waiting = false;
}

void WorkloadChecks::arrived(Instance& at, const protocol::Peer& from, std::uint64_t info,
                             const Request* receive) {
  const std::uint64_t id = info >> kIdShift;
  if (id == 0 || id > operations_.size() || operation(id).kind != RequestKind::send)
    return fail(fmt::format("a message arrived that no host sent: {:#x}", info));
  Operation& m = operation(id);
  // A half of the message may have been given up, and the rest taken for a new one.
  const bool again = !strict(at.host, m.host) && !m.delivered;
  if (m.arrived && !again) return fail(fmt::format("message {} arrived twice", id));
  m.arrived = true;
  m.receiver_losses = at.views[m.host].losses;
  if (m.target != &at || from.nic != World::nic_of(m.host))
    return fail(fmt::format("message {} came from the wrong host or to another instance", id));
  std::uint64_t& newest = at.newest[m.instance];
  if (id < newest && strict(at.host, m.host))
    return fail(fmt::format("message {} arrived after {}", id, newest));
  newest = id;

  const auto expected = at.matching.arrive({id, info, &from});
  const auto posted = at.posted.find(receive);
  const std::uint64_t got = posted == at.posted.end() ? 0 : posted->second;
  if (expected.value_or(0) != got || (receive && got == 0)) {
    return fail(fmt::format("message {} went to receive {} of host {}, MX says {} (0: none)", id, got,
                            at.host, expected.value_or(0)));
  }
  if (!receive) return;
  message_matched(operation(got), id);
  at.posted.erase(posted);
}

void WorkloadChecks::dropped(Instance& at, std::uint64_t info) {
  if (!at.matching.drop(info >> kIdShift))
    fail(fmt::format("message {} was dropped, MX says it does not wait", info >> kIdShift));
}

void WorkloadChecks::forget(Instance& at, const protocol::Peer& peer, protocol::Cleanup why) {
  if (peer.connected()) peer_lost(at, peer, why);
  Instance::View& view = at.views[peer.nic - World::nic_of(0)];
  view.losses++;
  view.last_loss = world_.now();
  view.joined = false;
}

void WorkloadChecks::receive_ended(Operation& r, const Completion& c) {
  if (c.status == Status::cancelled) {
    if (!r.cancelled) fail(fmt::format("receive {} ended as cancelled, but was not cancelled", r.id));
    return;
  }
  const std::uint64_t id = c.match_info >> kIdShift;
  if (id == 0 || id > operations_.size() || id != r.expected)
    return fail(fmt::format("receive {} ended with message {}, MX says {}", r.id, id, r.expected));
  Operation& m = operation(id);
  undelivered_[m.to]--;
  if (c.status != Status::success && c.status != Status::truncated) {
    m.receive_failed = true;
    if (c.xfer_length != 0) return fail(fmt::format("receive {} failed and has data", r.id));
    if (!may_fail(r, c.status))
      fail(
          fmt::format("receive {} of message {} ended with status {}", r.id, id, static_cast<int>(c.status)));
    return;
  }
  if (m.delivered) return fail(fmt::format("message {} was delivered twice", id));
  m.delivered = true;
  if (const std::string wrong = delivery_check(m, r, c); !wrong.empty()) return fail(wrong);
  if (protocol::peer_info(c.peer).nic != World::nic_of(m.host))
    return fail(fmt::format("message {} came from the wrong host", id));
  if (!options_.trace) r.data = {};
}

// Checks the end of a send. With `accepted` the engine reports success because the receiver accepted the
// message, with `taken` because a receive has the data.
void WorkloadChecks::send_ended(Operation& m, Status status, bool accepted, bool taken) {
  if (status == Status::success || status == Status::truncated) {
    const bool cut = status == Status::truncated;
    if (cut && !m.truncated && !m.receive_failed)
      return fail(fmt::format("send {} ended as truncated, but no receive truncated it", m.id));
    if (taken && !cut && (!m.delivered || m.truncated))
      return fail(fmt::format("send {} ended with success and was not delivered", m.id));
    if (accepted && !m.arrived && strict(m.host, m.to))
      return fail(fmt::format("send {} ended with success and has not arrived", m.id));
    return;
  }
  if (!may_fail(m, status))
    fail(fmt::format("send {} from {} to {} ended with status {}", m.id, m.host, m.to,
                     static_cast<int>(status)));
}

void WorkloadChecks::connect_ended(Operation& o, const Completion& c) {
  if (o.bad_key && c.status == Status::bad_key) return;
  // If the two are connected nonetheless, nothing that the connect offered is withdrawn.
  if (c.status != Status::success && !c.peer->connected())
    o.instance->views[o.to].last_failed_connect = world_.now();
  if (o.bad_key || c.status != Status::success) {
    if (c.status == Status::success || c.status == Status::bad_key || !may_fail(o, c.status))
      fail(fmt::format("connect {} from {} to {} ended with status {}", o.id, o.host, o.to,
                       static_cast<int>(c.status)));
    return;
  }
  const auto found = by_session_.find(c.session);
  if (found == by_session_.end() || found->second->host != o.to || found->second->crashed_at < o.start)
    return fail(fmt::format("connect {} reached an instance that does not live", o.id));
  Instance::View& view = o.instance->views[o.to];
  view.peer = c.peer;
  view.session = c.session;
}

void WorkloadChecks::ended(Instance& at, const Completion& c, bool accepted, bool large) {
  Operation& o = *static_cast<Operation*>(c.context);
  if (o.ended) return fail(fmt::format("operation {} ended twice", o.id));
  o.ended = true;
  o.request = nullptr;
  o.well = c.status == Status::success;
  note(o, fmt::format("ends with status {}", static_cast<int>(c.status)));
  if (o.instance != &at || o.kind != c.kind) return fail(fmt::format("operation {} ended as another", o.id));
  const bool taken = large || o.to == o.host;
  switch (c.kind) {
    case RequestKind::receive:
      return receive_ended(o, c);
    case RequestKind::connect:
      return connect_ended(o, c);
    case RequestKind::send:
      // The application writes to its memory as soon as the send has ended.
      std::fill(o.data.begin(), o.data.end(), std::byte{0xBB});
      return send_ended(o, c.status, accepted || taken, taken);
  }
}

void WorkloadChecks::reap(SimHost& host) {
  while (Request* r = host.engine().peek_done()) {
    const bool accepted = !r->tx.buffered, large = accepted && r->send_class == protocol::SendClass::large;
    ended(*current_[host.index()], host.engine().consume(r), accepted, large);
  }
  // Messages that were complete for their senders have no other end that could be checked.
  while (host.engine().lost_take()) {
  }
}

void WorkloadChecks::leftovers(bool timers) {
  for (std::uint32_t i = 0; i < hosts() && !failed(); i++)
    if (const std::string left = host_leftovers(world_.host(i), timers); !left.empty()) fail(left);
  if (world_.frames().live() > 0) fail("frames are still under way");
}

}  // namespace omx::simulation
