// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/snapshot_take.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/list.h"
#include "protocol/snapshot.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/matching.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_ports.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

// At most half of the rows show posted receives, because unexpected messages tell as much.
constexpr std::size_t kReceives = Snapshot::kPending / 2;

template <class ItemList>
std::uint32_t length_of(ItemList& list) {
  std::uint32_t n = 0;
  for (auto* item = list.front(); item && n < Snapshot::kLook; item = list.next(*item)) n++;
  return n;
}

bool busy(Peer& p) {
  return !p.tx.queued.empty() || !p.tx.unacked.empty() || !p.tx.await_notify.empty() ||
         !p.tx.connects.empty() || p.rx.pulls || p.rx.unexpected_bytes > 0;
}

// All that happens in one turn of the engine has the time of its beginning. An answer within the turn seems
// to take no time, which tells nothing about the path. Rings inside a host take longer.
constexpr TimeNs kMeasuredLeast = 50;

// Returns a time to an answer as others are to see it; 0: not known.
TimeNs known_time(TimeNs time) {
  return time == kNever || time < kMeasuredLeast ? 0 : time;
}

PeerRow row_of(Peer& p) {
  PeerRow row;
  row.nic = p.nic;
  row.endpoint = p.endpoint;
  row.self = p.self;
  row.connected = p.connected();
  row.extended = p.agreed.extended;
  row.intra_node = p.agreed.intra_node_frame != 0;
  row.bulk_in = p.bulk.in;
  row.bulk_out = p.bulk.out;
  row.queued = length_of(p.tx.queued);
  row.unacked = length_of(p.tx.unacked);
  row.unfinished = length_of(p.tx.await_notify);
  row.connecting = length_of(p.tx.connects);
  row.pulls = p.rx.pulls ? p.rx.pulls->count : 0;
  row.frames_unacked = p.tx.frames_unacked;
  row.frame_max = p.agreed.intra_node_frame ? p.agreed.intra_node_frame : p.agreed.frame_max;
  row.unexpected_bytes = p.rx.unexpected_bytes;
  row.messages_sent = p.figures.messages_sent;
  row.bytes_sent = p.figures.bytes_sent;
  row.messages_received = p.figures.messages_received;
  row.bytes_received = p.figures.bytes_received;
  row.resends = p.counting.resends;
  row.last_heard = p.liveness.last_heard;
  row.round_trip = known_time(p.tx.trip.smoothed());
  row.round_trip_least = known_time(p.tx.trip.least());
  if (const EagerWindow* const w = eager_first_trial(p) ? nullptr : p.tx.eager) {
    row.window = w->window.bytes();
    row.window_contended = w->window.contended();
  }
  return row;
}

PullRow pull_row_of(State& s, unsigned rail) {
  const PullPort& port = s.pulling.port(rail);
  const CongestionWindow& window = s.pulling.window(rail);
  return {pull_allowed(s, rail),           port.in_flight,          window.contended(), known_time(port.rtt),
          known_time(port.rtt_shortest()), s.now < port.paced_until};
}

// The first items of many, in an order.
template <class T, std::size_t kMost, class Before>
class First {
 public:
  explicit First(Before before) : before_(before) {}
  void offer(T* item) {
    if (count_ < kMost) {
      items_[count_++] = item;
    } else if (before_(item, items_[0])) {
      std::pop_heap(begin(), end(), before_);
      items_[kMost - 1] = item;
    } else {
      return;
    }
    std::push_heap(begin(), end(), before_);
  }
  // Returns the items in order. To be called once, at the end.
  std::span<T* const> sorted() {
    std::sort_heap(begin(), end(), before_);
    return {items_.data(), count_};
  }

 private:
  T** begin() { return items_.data(); }
  T** end() { return items_.data() + count_; }

  Before before_;
  std::size_t count_ = 0;
  std::array<T*, kMost> items_;
};

bool more_interesting(Peer* a, Peer* b) {
  const bool x = busy(*a), y = busy(*b);
  return x != y ? x : a->liveness.last_heard > b->liveness.last_heard;
}

bool posted_before(const Request* a, const Request* b) {
  return a->rx.order < b->rx.order;
}

class PendingWriter {
 public:
  explicit PendingWriter(Snapshot& out) : out_(out) {}

  bool full() const { return out_.pending_rows == out_.pending.size(); }

  PendingRow* row(const Peer* peer) {
    if (full()) {
      out_.pending_cut = true;
      return nullptr;
    }
    PendingRow& row = out_.pending[out_.pending_rows++];
    row = {};
    if (peer) {
      row.known_peer = true;
      row.nic = peer->nic;
      row.endpoint = peer->endpoint;
    }
    return &row;
  }

  void request(const Request& r, PendingRow::What what) {
    PendingRow* const row = this->row(r.peer ? r.peer : r.rx.source);
    if (!row) return;
    row->what = what;
    row->forgotten = r.user_gone;
    row->phase = static_cast<std::uint8_t>(r.phase);
    row->send_class = static_cast<std::uint8_t>(r.send_class);
    row->has_number = r.phase == Phase::unacked || r.phase == Phase::await_notify;
    row->seqnum = r.seqnum;
    row->resends = r.resends;
    row->match_info = r.match_info;
    row->match_mask = r.rx.match_mask;
    row->length = r.phase == Phase::posted ? r.segments.length() : r.msg_length;
    row->since = r.first_sent;
  }

  void requests(List<Request, &Request::queue>& list) {
    for (Request* r = list.front(); r; r = list.next(*r)) {
      const bool connect = r->kind == RequestKind::connect, receive = r->kind == RequestKind::receive;
      request(*r, connect   ? PendingRow::What::connect
                  : receive ? PendingRow::What::receive
                            : PendingRow::What::send);
      if (out_.pending_cut) return;
    }
  }

  void message(const Unexpected& u) {
    PendingRow* const row = this->row(u.peer);
    if (!row) return;
    row->what = PendingRow::What::message;
    row->match_info = u.match_info;
    row->length = u.msg_length;
  }

 private:
  Snapshot& out_;
};

}  // namespace

void snapshot_take(State& s, Snapshot& out) {
  out.at = s.now + s.absent;
  out.posted = s.matching.posted.size();
  out.unexpected = s.matching.unexpected.size();
  out.done = length_of(s.completion.done);
  out.buffered_sends = s.completion.buffered_sends;
  out.requests = s.memory.requests.live();
  out.unexpected_bytes = s.buffers_held();
  out.pulls_running = length_of(s.transfers.pull_list) + length_of(s.transfers.pull_sharing);
  out.pulls_waiting = length_of(s.transfers.pull_waiting);
  out.pull_rows = std::max<unsigned>(s.config.rails.count, 1);
  for (unsigned rail = 0; rail < out.pull_rows; rail++) out.pull[rail] = pull_row_of(s, rail);
  out.marks = {s.marks_forgone, s.marks_forgone && s.config.reliability.marks, s.marks_refuser,
               s.marks_refuser_endpoint};
  out.peers = static_cast<std::uint32_t>(s.peers.by_index.size());
  out.pending_rows = 0;
  out.pending_cut = false;

  First<Peer, Snapshot::kPeers, bool (*)(Peer*, Peer*)> peers(more_interesting);
  std::uint32_t looked = 0;
  for (Peer* p : s.peers.by_index) {
    if (!p || (p->self && p->figures.messages_sent == 0)) continue;
    if (looked++ == Snapshot::kLook) break;
    peers.offer(p);
  }
  PendingWriter pending(out);
  out.peer_rows = 0;
  for (Peer* const p : peers.sorted()) {
    out.peer[out.peer_rows++] = row_of(*p);
    for (auto* list : {&p->tx.connects, &p->tx.queued, &p->tx.unacked, &p->tx.await_notify})
      pending.requests(*list);
  }
  for (Pull* pull = s.transfers.pull_list.front(); pull && !out.pending_cut;
       pull = s.transfers.pull_list.next(*pull))
    pending.request(*pull->request, PendingRow::What::receive);

  First<const Request, kReceives, bool (*)(const Request*, const Request*)> receives(posted_before);
  looked = 0;
  s.matching.posted.visit([&](const Request& r) {
    receives.offer(&r);
    return ++looked < Snapshot::kLook;
  });
  for (const Request* const r : receives.sorted()) pending.request(*r, PendingRow::What::receive);
  if (s.matching.posted.size() > kReceives) out.pending_cut = true;
  for (Unexpected* u = s.matching.unexpected.front(); u && !pending.full();
       u = s.matching.unexpected.next(*u))
    pending.message(*u);
  if (s.matching.unexpected.size() > 0 && pending.full()) out.pending_cut = true;

  // Readers compare these times with their own clock.
  for (std::uint32_t i = 0; i < out.peer_rows; i++)
    if (out.peer[i].last_heard) out.peer[i].last_heard += s.absent;
  for (std::uint32_t i = 0; i < out.pending_rows; i++)
    if (out.pending[i].since) out.pending[i].since += s.absent;
}

}  // namespace omx::protocol
