// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/tcp_flow.h"

#include <algorithm>

namespace omx::simulation::fabric {

namespace {
// Ethernet, IP and TCP headers with time stamps.
constexpr std::uint32_t kHeaders = 14 + 20 + 32;
constexpr std::uint64_t kReordered = 3;
constexpr std::uint64_t kTimer = 1, kNicReady = 2;
// A flow sends no more while so much is in the queue of its NIC, as with TCP Small Queues of Linux.
constexpr std::uint64_t kNicBytes = 64U << 10;
constexpr TimeNs kProbeTrips = 2;                               // round trips of silence before a probe
constexpr TimeNs kTimeoutLeast = 200 * protocol::kMillisecond;  // of Linux
constexpr TimeNs kTimeoutFirst = 1000 * protocol::kMillisecond;
constexpr TimeNs kBackoffMost = 64;
}  // namespace

using protocol::kNever;

TcpFlow::TcpFlow(TcpSurroundings& fabric, const TcpEnds& ends, TcpKind kind)
    : fabric_(fabric), ends_(ends), window_(kind) {}

void TcpFlow::start() {
  running_ = true;
  fill_window();
  timer_set();
}

std::uint32_t TcpFlow::frame(const TcpSegment& segment, std::uint32_t length, bool back) {
  const std::uint32_t index = fabric_.packets().create();
  Packet& packet = fabric_.packets()[index];
  packet.tcp = segment;
  packet.tcp.flow = ends_.flow;
  packet.from = back ? ends_.to : ends_.from;
  packet.to = back ? ends_.from : ends_.to;
  packet.length = length;
  return index;
}

void TcpFlow::arrived(const TcpSegment& segment) {
  segment.acknowledges ? acknowledged(segment) : received(segment);
}

void TcpFlow::received(const TcpSegment& segment) {
  if (segment.segment >= next_) early_.insert(segment.segment);
  for (; !early_.empty() && *early_.begin() == next_; next_++) early_.erase(early_.begin());
  figures_.delivered = next_;
  TcpSegment answer = segment;
  answer.acknowledges = true;
  answer.next = next_;
  fabric_.transmit_at(fabric_.now() + fabric_.options().tcp_delay, frame(answer, kHeaders, true));
}

void TcpFlow::acknowledged(const TcpSegment& segment) {
  time(fabric_.now() - segment.sent);
  const bool full = under_way_ >= window_.segments();  // a window that is not used does not grow
  const std::uint64_t before = first_;
  for (; first_ < segment.next && !segments_.empty(); first_++) {
    if (segments_.front().fate == Fate::under_way) under_way_--;
    segments_.pop_front();
  }
  if (segment.segment >= first_ && segment.segment - first_ < segments_.size()) {
    Unacknowledged& named = segments_[segment.segment - first_];
    if (named.fate == Fate::under_way) under_way_--;
    named.fate = Fate::come;
  }
  lost_.erase(lost_.begin(), lost_.lower_bound(first_));
  lost_.erase(segment.segment);
  // All that was sent before a probe has come before it, or is lost.
  losses_find(segment.transmission + (segment.transmission == probe_ ? kReordered : 0));
  if (first_ > before) {
    backoff_ = 1;
    if (first_ >= recover_ && full)
      window_.acknowledged(fabric_.now(), static_cast<double>(first_ - before), mean_);
  }
  // A mark counts as a loss, once for each window (RFC 3168).
  if (segment.marked && segment.segment >= recover_) {
    recover_ = first_ + segments_.size();
    window_.lost();
  }
  due_ = probe_ = kNever;
  fill_window();
  timer_set();
}

// Finds the segments whose last sending was so long before the one that has come that they must be lost.
void TcpFlow::losses_find(std::uint64_t transmission) {
  while (!sendings_.empty() && sendings_.front().transmission + kReordered <= transmission) {
    const Sending sending = sendings_.front();
    sendings_.pop_front();
    if (sending.segment < first_) continue;
    const Unacknowledged& segment = segments_[sending.segment - first_];
    if (segment.fate != Fate::under_way || segment.transmission != sending.transmission) continue;
    lose(sending.segment);
    if (sending.segment < recover_) continue;
    recover_ = first_ + segments_.size();
    window_.lost();
  }
}

void TcpFlow::lose(std::uint64_t segment) {
  segments_[segment - first_].fate = Fate::lost;
  under_way_--;
  lost_.insert(segment);
}

void TcpFlow::fill_window() {
  while (running_ && under_way_ < window_.segments()) {
    const std::uint64_t queued = fabric_.nic_queued(ends_.from);
    if (queued > kNicBytes) return nic_await(queued - kNicBytes);
    if (lost_.empty()) {
      segments_.emplace_back();
      send(first_ + segments_.size() - 1);
    } else {
      const std::uint64_t segment = *lost_.begin();
      lost_.erase(lost_.begin());
      figures_.sent_again++;
      send(segment);
    }
  }
}

// Goes on when the NIC has sent so much of its queue.
void TcpFlow::nic_await(std::uint64_t bytes) {
  if (nic_awaited_) return;
  nic_awaited_ = true;
  fabric_.schedule(fabric_.now() + fabric_.nic_time(bytes) + 1, *this, kNicReady);
}

void TcpFlow::send(std::uint64_t segment) {
  Unacknowledged& state = segments_[segment - first_];
  state.fate = Fate::under_way;
  state.transmission = transmissions_++;
  under_way_++;
  figures_.sent++;
  sendings_.push_back({state.transmission, segment});
  TcpSegment out;
  out.segment = segment;
  out.transmission = state.transmission;
  out.sent = fabric_.now();
  fabric_.transmit(frame(out, kHeaders + kTcpPayload, false));
}

void TcpFlow::time(TimeNs sample) {
  figures_.round_trips.push_back(static_cast<std::uint32_t>(std::min<TimeNs>(sample, UINT32_MAX)));
  if (mean_ == 0) {
    mean_ = sample;
    deviation_ = sample / 2;
    return;
  }
  deviation_ = (3 * deviation_ + (mean_ > sample ? mean_ - sample : sample - mean_)) / 4;
  mean_ = (7 * mean_ + sample) / 8;
}

void TcpFlow::timer_set() {
  if (segments_.empty()) {
    due_ = kNever;
    return;
  }
  const TimeNs wait = mean_ == 0 ? kTimeoutFirst : std::max(mean_ + 4 * deviation_, kTimeoutLeast);
  if (due_ == kNever)
    due_ = fabric_.now() + (probe_ == kNever && mean_ > 0 ? kProbeTrips * mean_ : wait * backoff_);
  if (due_ >= timer_at_) return;
  timer_at_ = due_;
  fabric_.schedule(due_, *this, kTimer);
}

// Sends the last segment that has not come again, so that its acknowledgement shows what was lost before it
// (RFC 8985, 7).
void TcpFlow::probe() {
  std::uint64_t last = segments_.size() - 1;
  while (last > 0 && segments_[last].fate == Fate::come) last--;
  if (segments_[last].fate == Fate::under_way) under_way_--;
  lost_.erase(first_ + last);
  figures_.sent_again++;
  probe_ = transmissions_;
  send(first_ + last);
  due_ = kNever;
}

void TcpFlow::on_event(std::uint64_t argument) {
  if (argument == kNicReady) {
    nic_awaited_ = false;
    fill_window();
    return timer_set();
  }
  if (fabric_.now() >= timer_at_) timer_at_ = kNever;
  if (!running_ || segments_.empty()) return;
  if (fabric_.now() >= due_ && probe_ == kNever && mean_ > 0) {
    probe();
  } else if (fabric_.now() >= due_) {
    figures_.timeouts++;
    backoff_ = std::min(backoff_ * 2, kBackoffMost);
    for (std::uint64_t i = 0; i < segments_.size(); i++)
      if (segments_[i].fate == Fate::under_way) lose(first_ + i);
    sendings_.clear();
    recover_ = first_ + segments_.size();
    window_.timed_out();
    due_ = probe_ = kNever;
    fill_window();
  }
  timer_set();
}

}  // namespace omx::simulation::fabric
