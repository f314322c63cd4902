// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/top_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace omx::tools {

namespace {

using protocol::Counter;
using protocol::PeerRow;

// Counts of one endpoint, or differences between two readings of them.
struct Load {
  double messages_out = 0, messages_in = 0, bytes_out = 0, bytes_in = 0, frames_out = 0, frames_in = 0;
  double resent = 0, marked = 0, wakeups = 0;
};

double total(std::uint64_t a, std::uint64_t b) {
  return static_cast<double>(a + b);
}

Load load_of(const runtime::SharedCounters& c) {
  const protocol::Counters& e = c.engine;
  Load load;
  load.messages_out = total(e[Counter::messages_sent], 0);
  load.messages_in = total(e[Counter::messages_received], 0);
  load.bytes_out = total(e[Counter::bytes_sent], 0);
  load.bytes_in = total(e[Counter::bytes_received], 0);
  load.frames_out = total(c.link.frames_sent, c.local.frames_sent);
  load.frames_in = total(c.link.frames_received, c.local.frames_received);
  load.resent = total(e[Counter::resend_timeout] + e[Counter::resend_tail] + e[Counter::resend_sack],
                      e[Counter::pull_rerequest_gap] + e[Counter::pull_rerequest_timer]);
  load.marked = total(e[Counter::recv_marked], e[Counter::marks_told]);
  load.wakeups = total(c.wakeups, 0);
  return load;
}

Load load_of(const PeerRow& p) {
  Load load;
  load.messages_out = total(p.messages_sent, 0);
  load.messages_in = total(p.messages_received, 0);
  load.bytes_out = total(p.bytes_sent, 0);
  load.bytes_in = total(p.bytes_received, 0);
  load.resent = total(p.resends, 0);
  return load;
}

Load rate(const Load& now, const Load& before, double seconds) {
  if (seconds <= 0) return {};
  // A peer that was forgotten and came back starts to count from zero.
  const auto per_second = [seconds](double n, double b) { return n < b ? 0 : (n - b) / seconds; };
  Load r;
  r.messages_out = per_second(now.messages_out, before.messages_out);
  r.messages_in = per_second(now.messages_in, before.messages_in);
  r.bytes_out = per_second(now.bytes_out, before.bytes_out);
  r.bytes_in = per_second(now.bytes_in, before.bytes_in);
  r.frames_out = per_second(now.frames_out, before.frames_out);
  r.frames_in = per_second(now.frames_in, before.frames_in);
  r.resent = per_second(now.resent, before.resent);
  r.marked = per_second(now.marked, before.marked);
  r.wakeups = per_second(now.wakeups, before.wakeups);
  return r;
}

// Formats a value in few characters, with a unit for large ones.
std::string short_text(double value) {
  if (value < 9.95 && value > 0) return fmt::format("{:.1f}", value);
  if (value < 9999.5) return fmt::format("{:.0f}", value);
  if (value < 999.5e3) return fmt::format("{:.0f}k", value / 1e3);
  if (value < 9.995e6) return fmt::format("{:.2f}M", value / 1e6);
  if (value < 999.5e6) return fmt::format("{:.0f}M", value / 1e6);
  return fmt::format("{:.2f}G", value / 1e9);
}

const EndpointView* same_in(const std::vector<EndpointView>& views, const EndpointView& wanted) {
  for (const EndpointView& view : views) {
    if (view.board.interface.index == wanted.board.interface.index &&
        view.endpoint.id == wanted.endpoint.id && view.endpoint.holder.pid == wanted.endpoint.holder.pid)
      return &view;
  }
  return nullptr;
}

double seconds_between(protocol::TimeNs later, protocol::TimeNs earlier) {
  return later > earlier ? static_cast<double>(later - earlier) / 1e9 : 0;
}

double activity(const Load& load) {
  return load.bytes_in + load.bytes_out + 1000 * (load.messages_in + load.messages_out);
}

struct EndpointLine {
  const EndpointView* view = nullptr;
  Load load;
};

struct PeerLine {
  const EndpointView* view = nullptr;
  const PeerRow* peer = nullptr;
  Load load;
  std::uint64_t pending = 0;
};

const PeerRow* same_in(const EndpointView& view, const PeerRow& wanted) {
  const protocol::Snapshot& s = view.snapshot();
  for (std::uint32_t i = 0; i < s.peer_rows; i++) {
    if (s.peer[i].nic == wanted.nic && s.peer[i].endpoint == wanted.endpoint) return &s.peer[i];
  }
  return nullptr;
}

std::vector<PeerLine> peers_of(const EndpointView& view, const EndpointView* before) {
  std::vector<PeerLine> lines;
  const protocol::Snapshot& s = view.snapshot();
  for (std::uint32_t i = 0; i < s.peer_rows; i++) {
    const PeerRow& p = s.peer[i];
    PeerLine line{&view, &p, {}, std::uint64_t{p.queued} + p.unacked + p.unfinished + p.connecting + p.pulls};
    const PeerRow* const old = before ? same_in(*before, p) : nullptr;
    if (old) line.load = rate(load_of(p), load_of(*old), seconds_between(s.at, before->snapshot().at));
    lines.push_back(line);
  }
  return lines;
}

// Sorts the busiest lines first. Lines with equal activity keep their order.
template <class Line>
void sort_by_activity(std::vector<Line>& lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return activity(a.load) > activity(b.load); });
}

}  // namespace

std::string top_text(const std::vector<EndpointView>& now, const std::vector<EndpointView>& before,
                     runtime::PeerTable& names, std::size_t most) {
  std::vector<EndpointLine> endpoints;
  std::vector<PeerLine> peers;
  for (const EndpointView& view : now) {
    const EndpointView* const old = same_in(before, view);
    EndpointLine line{&view, {}};
    if (old)
      line.load =
          rate(load_of(view.counters()), load_of(old->counters()), seconds_between(view.taken, old->taken));
    endpoints.push_back(line);
    for (const PeerLine& peer : peers_of(view, old)) peers.push_back(peer);
  }
  sort_by_activity(endpoints);
  sort_by_activity(peers);

  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(
      out, "{:>5} {:>3} {:>8} {:<15} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
      "BOARD", "EP", "PID", "COMMAND", "MSG/s>", "<MSG/s", "B/s>", "<B/s", "FRM/s>", "<FRM/s", "AGAIN",
      "MARKS", "WAKE/s", "POSTED", "UNEXP");
  for (const auto& [view, load] : endpoints) {
    const protocol::Snapshot& s = view->snapshot();
    fmt::format_to(
        out,
        "{:>5} {:>3} {:>8} {:<15.15} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
        view->board.number, view->endpoint.id, view->endpoint.holder.pid, view->endpoint.holder.command,
        short_text(load.messages_out), short_text(load.messages_in), short_text(load.bytes_out),
        short_text(load.bytes_in), short_text(load.frames_out), short_text(load.frames_in),
        short_text(load.resent), s.marks.forgone && load.marked == 0 ? "off" : short_text(load.marked),
        short_text(load.wakeups), s.posted, s.unexpected);
  }
  if (peers.empty() || most == 0) return text;

  fmt::format_to(out, "\n{:>5} {:>3} {:<30} {:>7} {:>7} {:>7} {:>7} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8}\n",
                 "BOARD", "EP", "PEER", "MSG/s>", "<MSG/s", "B/s>", "<B/s", "AGAIN", "PENDING", "UNEXP B",
                 "RTT us", "WINDOW", "HEARD");
  const std::size_t shown = std::min(most, peers.size());
  for (std::size_t i = 0; i < shown; i++) {
    const PeerLine& line = peers[i];
    const protocol::TimeNs taken = line.view->taken, heard = line.peer->last_heard;
    fmt::format_to(out, "{:>5} {:>3} {:<30.30} {:>7} {:>7} {:>7} {:>7} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8}\n",
                   line.view->board.number, line.view->endpoint.id,
                   peer_text(names, line.peer->nic, line.peer->endpoint), short_text(line.load.messages_out),
                   short_text(line.load.messages_in), short_text(line.load.bytes_out),
                   short_text(line.load.bytes_in), short_text(line.load.resent), line.pending,
                   short_text(static_cast<double>(line.peer->unexpected_bytes)),
                   line.peer->round_trip ? short_text(static_cast<double>(line.peer->round_trip) / 1e3) : "-",
                   line.peer->window ? short_text(line.peer->window) : "-",
                   heard && heard <= taken ? age_text(taken - heard) : "-");
  }
  if (shown < peers.size()) fmt::format_to(out, "and {} more peers (--peers)\n", peers.size() - shown);
  return text;
}

}  // namespace omx::tools
