// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/dump_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/mac.h"
#include "protocol/state/request.h"
#include "tools/json.h"

namespace omx::tools {

namespace {

using protocol::Counter;
using protocol::PeerRow;
using protocol::PendingRow;
using protocol::TimeNs;

using Out = std::back_insert_iterator<std::string>;

const char* phase_text(std::uint8_t phase) {
  using protocol::Phase;
  switch (static_cast<Phase>(phase)) {
    case Phase::queued:
      return "waits for the window";
    case Phase::unacked:
      return "not acknowledged";
    case Phase::await_notify:
      return "acknowledged, not fetched";
    case Phase::connecting:
      return "no answer yet";
    case Phase::self_waiting:
      return "waits for its receive";
    case Phase::posted:
      return "posted";
    case Phase::matched:
      return "arriving";
    case Phase::finished:
      return "finished";
  }
  return "?";
}

const char* state_text(const PendingRow& row) {
  using protocol::Phase;
  if (row.what == PendingRow::What::message) return "no receive matches it";
  const auto phase = static_cast<Phase>(row.phase);
  if (row.what == PendingRow::What::receive && (phase == Phase::unacked || phase == Phase::queued))
    return "complete, not yet acknowledged by the sender";
  return phase_text(row.phase);
}

const char* what_text(PendingRow::What what) {
  switch (what) {
    case PendingRow::What::send:
      return "send";
    case PendingRow::What::receive:
      return "receive";
    case PendingRow::What::connect:
      return "connect";
    case PendingRow::What::message:
      return "message";
  }
  return "?";
}

const char* driver_text(runtime::SharedView::Driver driver) {
  using Driver = runtime::SharedView::Driver;
  switch (driver) {
    case Driver::nobody:
      return "no thread waited for frames: the application polls, or makes no calls";
    case Driver::application:
      return "a waiting thread of the application made progress";
    case Driver::progress_thread:
      return "the progress thread made progress";
  }
  return "?";
}

std::string state_text(const PeerRow& p) {
  if (!p.connected) return "not connected";
  if (p.self) return "itself";
  return p.intra_node ? "inside this host"
                      : fmt::format("{}, frames of {} bytes{}", p.extended ? "extended" : "plain",
                                    p.frame_max, p.bulk_out ? ", UDP bulk path" : "");
}

TimeNs since(TimeNs now, TimeNs then) {
  return now > then ? now - then : 0;
}

const char* event_text(const protocol::Event& event) {
  const auto what = static_cast<std::size_t>(event.what);
  return what < protocol::kEventTexts.size() ? protocol::kEventTexts[what] : "?";
}

// Returns the last `most` events, oldest first.
std::vector<protocol::Event> events_of(const EndpointView& view, unsigned most) {
  const protocol::History& history = view.view().history;
  const std::uint64_t n = std::min<std::uint64_t>({most, history.count, protocol::History::kEvents});
  std::vector<protocol::Event> events;
  for (std::uint64_t i = history.count - n; i < history.count; i++)
    events.push_back(history.events[i % protocol::History::kEvents]);
  return events;
}

// Says why queues may not mark what the endpoint sends.
std::string ecn_off_reason(const protocol::MarksRow& marks, runtime::PeerTable& names) {
  if (!marks.by_peer) return "OMX_ECN=0";
  return fmt::format("peer {} does not heed marks (OMX_ECN=0 there, or an older release)",
                     peer_text(names, marks.refuser, marks.refuser_endpoint));
}

std::string microseconds(TimeNs time) {
  return fmt::format("{:.{}f}", static_cast<double>(time) / 1e3, time < 100'000 ? 2 : 1);
}

// Says how long an answer takes. The shortest time is left out where it is not known.
std::string round_trip_text(TimeNs usual, TimeNs least) {
  return microseconds(usual) + " us" + (least > 0 ? ", at least " + microseconds(least) : "");
}

// Says what the congestion window found out. A smaller window shortens a queue that is ours alone, but not
// where the port marks so early that even few frames are marked. `marked`: there were marks.
const char* contended_text(bool marked) {
  return marked ? "sending less did not shorten the queue: others fill it, too, or its port marks early"
                : "sending less did not shorten the queue: others may fill it, too";
}

void pulls_print(Out out, const protocol::Snapshot& s, bool marked) {
  for (std::uint32_t i = 0; i < s.pull_rows; i++) {
    const protocol::PullRow& p = s.pull[i];
    if (p.round_trip == 0) continue;
    fmt::format_to(out, "  large messages{}: {} bytes asked for of {} allowed; an answer takes {}{}{}\n",
                   s.pull_rows > 1 ? fmt::format(" by board {}", i) : "", p.in_flight, p.window,
                   round_trip_text(p.round_trip, p.round_trip_least),
                   p.contended ? fmt::format("; {}", contended_text(marked)) : "",
                   p.paced ? "; requests wait for their time" : "");
  }
}

void marks_print(Out out, const protocol::Snapshot& s, const protocol::Counters& counters,
                 runtime::PeerTable& names) {
  fmt::format_to(out, "  ECN: {}\n", s.marks.forgone ? "off: " + ecn_off_reason(s.marks, names) : "on");
  const std::uint64_t came = counters[Counter::recv_marked], told = counters[Counter::marks_told];
  if (came + told > 0)
    fmt::format_to(out, "  queues marked {} frames that came; peers said {} times that theirs were\n", came,
                   told);
}

void peers_print(Out out, const EndpointView& view, runtime::PeerTable& names) {
  const protocol::Snapshot& s = view.snapshot();
  const bool marked = view.counters().engine[Counter::marks_told] > 0;
  fmt::format_to(out, "Peers: {}{}\n", s.peer_rows,
                 s.peers > s.peer_rows + 1 ? fmt::format(" of {}", s.peers - 1) : "");
  for (std::uint32_t i = 0; i < s.peer_rows; i++) {
    const PeerRow& p = s.peer[i];
    fmt::format_to(out, "  {} ({})\n", peer_text(names, p.nic, p.endpoint), state_text(p));
    fmt::format_to(out, "    sent {} messages, {} bytes, {} again; received {} messages, {} bytes",
                   p.messages_sent, p.bytes_sent, p.resends, p.messages_received, p.bytes_received);
    if (p.last_heard) fmt::format_to(out, "; heard {} ago", age_text(since(view.taken, p.last_heard)));
    if (p.round_trip)
      fmt::format_to(out, "; round trip {}", round_trip_text(p.round_trip, p.round_trip_least));
    fmt::format_to(out, "\n");
    if (p.window)
      fmt::format_to(out, "    congested: at most {} bytes of short and medium messages on their way{}\n",
                     p.window, p.window_contended ? fmt::format("; {}", contended_text(marked)) : "");
    if (p.queued + p.unacked + p.unfinished + p.connecting + p.pulls + p.unexpected_bytes == 0) continue;
    fmt::format_to(
        out,
        "    waiting for the window {}, for acknowledgements {} ({} frames), to be fetched {}, for "
        "connects {}; being fetched {}; messages without a receive take {} bytes of memory\n",
        p.queued, p.unacked, p.frames_unacked, p.unfinished, p.connecting, p.pulls, p.unexpected_bytes);
  }
}

std::string pending_text(const PendingRow& r, const EndpointView& view, runtime::PeerTable& names) {
  const bool receive = r.what == PendingRow::What::receive;
  const bool arrived = r.what == PendingRow::What::message;
  std::string text = fmt::format("{:<8} {}", what_text(r.what), state_text(r));
  const auto out = std::back_inserter(text);
  if (r.known_peer)
    fmt::format_to(out, ", {} {}", receive || arrived ? "from" : "to", peer_text(names, r.nic, r.endpoint));
  fmt::format_to(out, ", match 0x{:016x}", r.match_info);
  if (receive) fmt::format_to(out, " mask 0x{:016x}", r.match_mask);
  if (r.what != PendingRow::What::connect) fmt::format_to(out, ", {} bytes", r.length);
  if (r.resends) fmt::format_to(out, ", sent again {} times", r.resends);
  if (r.since) fmt::format_to(out, ", first sent {} ago", age_text(since(view.taken, r.since)));
  if (r.forgotten) text += ", forgotten by the application";
  return text;
}

void pending_print(Out out, const EndpointView& view, runtime::PeerTable& names) {
  const protocol::Snapshot& s = view.snapshot();
  fmt::format_to(out, "Pending: {}{}\n", s.pending_rows, s.pending_cut ? ", and more" : "");
  std::string last;
  unsigned alike = 0;
  const auto end_run = [&] {
    if (alike > 0) fmt::format_to(out, "  {}{}\n", last, alike > 1 ? fmt::format(" ({} such)", alike) : "");
  };
  for (std::uint32_t i = 0; i < s.pending_rows; i++) {
    std::string text = pending_text(s.pending[i], view, names);
    if (text != last) {
      end_run();
      last = std::move(text);
      alike = 0;
    }
    alike++;
  }
  end_run();
}

void events_print(Out out, const EndpointView& view, runtime::PeerTable& names, unsigned most) {
  const auto events = events_of(view, most);
  fmt::format_to(out, "Last events: {} of {}\n", events.size(), view.view().history.count);
  for (const protocol::Event& e : events) {
    fmt::format_to(out, "  {:>8} ago  {}", age_text(since(view.taken, e.at)), event_text(e));
    if (e.nic) fmt::format_to(out, ", {}", peer_text(names, e.nic, e.endpoint));
    fmt::format_to(out, ", match 0x{:016x}, {} bytes", e.match_info, e.length);
    if (e.seqnum) fmt::format_to(out, ", number {:04x}", e.seqnum);
    fmt::format_to(out, "\n");
  }
}

void endpoint_print(Out out, const EndpointView& view, runtime::PeerTable& names, unsigned events) {
  const std::string title = fmt::format("{} endpoint {} open by {}", board_text(view.board), view.endpoint.id,
                                        holder_text(view.endpoint.holder));
  fmt::format_to(out, "{}\n{:=<{}}\n", title, "", title.size());
  const protocol::Snapshot& s = view.snapshot();
  if (s.at == 0) {
    fmt::format_to(
        out,
        "It has not published its state yet, because it has done nothing since it opened its endpoint.\n");
  } else {
    const bool torn = view.view().ended != view.view().begun;
    fmt::format_to(out, "As of {} ago{}; counters and events are of now\n", age_text(since(view.taken, s.at)),
                   torn ? ", stopped while it was written" : "");
    fmt::format_to(out, "  {}; {} threads in waiting calls{}\n", driver_text(view.view().driver),
                   view.view().waiting, view.view().stopped ? "; progression is switched off" : "");
    fmt::format_to(
        out,
        "  receives posted {}, messages without a receive {} ({} bytes of OMX_UNEXP_BYTES used), completions "
        "not fetched "
        "{}, sends complete but not acknowledged {}, large messages being fetched {}, waiting for that {}\n",
        s.posted, s.unexpected, s.unexpected_bytes, s.done, s.buffered_sends, s.pulls_running,
        s.pulls_waiting);
    pulls_print(out, s, view.counters().engine[Counter::recv_marked] > 0);
    marks_print(out, s, view.counters().engine, names);
    peers_print(out, view, names);
    pending_print(out, view, names);
  }
  events_print(out, view, names, events);
  fmt::format_to(out, "\n");
}

void endpoint_json(JsonWriter& json, const EndpointView& view, runtime::PeerTable& names, unsigned events) {
  const protocol::Snapshot& s = view.snapshot();
  json.field("board", view.board.number);
  json.field("interface", view.board.interface.name);
  json.field("endpoint", view.endpoint.id);
  json.field("pid", view.endpoint.holder.pid);
  json.field("command", view.endpoint.holder.command);
  json.field("age_ns", s.at ? since(view.taken, s.at) : TimeNs{0});
  json.field("known", s.at != 0);
  json.field("waiting", view.view().waiting);
  json.field("posted", s.posted);
  json.field("unexpected", s.unexpected);
  json.field("unexpected_bytes", s.unexpected_bytes);
  json.field("done", s.done);
  json.field("buffered_sends", s.buffered_sends);
  json.field("zombies", s.buffered_sends);  // the former key
  json.field("pulls", s.pulls_running);
  json.field("ecn", !s.marks.forgone);
  if (s.marks.forgone) json.field("ecn_off_reason", ecn_off_reason(s.marks, names));
  json.field("frames_marked", view.counters().engine[Counter::recv_marked]);
  json.field("marks_told", view.counters().engine[Counter::marks_told]);
  json.array("peers", [&] {
    for (std::uint32_t i = 0; i < s.peer_rows; i++) {
      const PeerRow& p = s.peer[i];
      json.object([&] {
        json.field("mac", mac_format(p.nic));
        json.field("name", nic_text(names, p.nic));
        json.field("endpoint", p.endpoint);
        json.field("connected", p.connected);
        json.field("queued", p.queued);
        json.field("unacked", p.unacked);
        json.field("unfetched", p.unfinished);
        json.field("connecting", p.connecting);
        json.field("pulls", p.pulls);
        json.field("unexpected_bytes", p.unexpected_bytes);
        json.field("messages_sent", p.messages_sent);
        json.field("bytes_sent", p.bytes_sent);
        json.field("messages_received", p.messages_received);
        json.field("bytes_received", p.bytes_received);
        json.field("resends", p.resends);
        json.field("round_trip_ns", p.round_trip);
        json.field("round_trip_least_ns", p.round_trip_least);
        json.field("window_bytes", p.window);
        json.field("contended", p.window_contended);
      });
    }
  });
  json.array("pull_windows", [&] {
    for (std::uint32_t i = 0; i < s.pull_rows; i++) {
      const protocol::PullRow& p = s.pull[i];
      json.object([&] {
        json.field("window_bytes", p.window);
        json.field("in_flight_bytes", p.in_flight);
        json.field("paced", p.paced);
        json.field("contended", p.contended);
        json.field("round_trip_ns", p.round_trip);
        json.field("round_trip_least_ns", p.round_trip_least);
      });
    }
  });
  json.array("pending", [&] {
    for (std::uint32_t i = 0; i < s.pending_rows; i++) {
      const PendingRow& r = s.pending[i];
      json.object([&] {
        json.field("what", what_text(r.what));
        json.field("state", state_text(r));
        if (r.known_peer) json.field("mac", mac_format(r.nic));
        if (r.known_peer) json.field("endpoint", r.endpoint);
        json.field("match", fmt::format("0x{:016x}", r.match_info));
        json.field("mask", fmt::format("0x{:016x}", r.match_mask));
        json.field("bytes", r.length);
        json.field("resends", r.resends);
      });
    }
  });
  json.array("events", [&] {
    for (const protocol::Event& e : events_of(view, events)) {
      json.object([&] {
        json.field("age_ns", since(view.taken, e.at));
        json.field("what", event_text(e));
        json.field("mac", mac_format(e.nic));
        json.field("endpoint", e.endpoint);
        json.field("match", fmt::format("0x{:016x}", e.match_info));
        json.field("bytes", e.length);
      });
    }
  });
}

}  // namespace

std::string dump_text(const std::vector<EndpointView>& views, runtime::PeerTable& names, unsigned events) {
  std::string text;
  for (const EndpointView& view : views) endpoint_print(std::back_inserter(text), view, names, events);
  return text;
}

std::string dump_json(const std::vector<EndpointView>& views, runtime::PeerTable& names, unsigned events) {
  JsonWriter json;
  json.object([&] {
    json.array("endpoints", [&] {
      for (const EndpointView& view : views) json.object([&] { endpoint_json(json, view, names, events); });
    });
  });
  return json.take();
}

}  // namespace omx::tools
