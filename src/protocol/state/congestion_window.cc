// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/congestion_window.h"

#include <algorithm>
#include <utility>

namespace omx::protocol {

namespace {

// So many answers at least show how long the queue is. The quickest of them counts, because hosts that do not
// run delay the others.
constexpr std::uint8_t kSamples = 4;
// Rounds between two tests while others fill the queue.
constexpr std::uint8_t kTestRounds = 64;
// A lone sender has the whole path. With less than this part of the best rate the queue is not ours.
constexpr std::uint32_t kRatePart = 2;
// Hosts that do not run make some rounds slow, a queue of others makes all of them slow.
constexpr std::uint8_t kSlowRounds = 4;
// The rate is that of so many rounds.
constexpr std::uint8_t kRateRounds = 8;
// The best rate is forgotten by this part each time that the rate is measured.
constexpr std::uint32_t kRateForgets = 64;
// Where answers show no queue, a lone sender's window grows by this part of the data that arrive.
constexpr std::uint32_t kQuickGrowth = 16;

// If at most so many percent of the delay stay in a test, the queue was ours.
constexpr unsigned kStays = 65, kStaysOfFew = 80;
constexpr std::uint32_t kFramesFew = 8;

// The delay of fewer frames tells little, because each takes its time on the wire.
constexpr std::uint32_t kFramesLeast = 6;

// Returns from which delay on the queue is too long. On an empty path two hosts that sleep add some
// microseconds to the shortest time.
TimeNs delay_long(TimeNs least) {
  return least * 5 / 2 + 100'000;
}

}  // namespace

void CongestionWindow::test_begin(TimeNs delay, std::uint64_t next) {
  test_ = next;
  was_contended_ = mode_ == Mode::contended;
  mode_ = Mode::testing;
  settling_ = true;
  doubling_ = false;
  lost_rounds_ = 0;
  disturbed_ = false;
  rounds_ = 0;
  delay_before_ = delay;
  before_ = bytes_;
  bytes_ /= 2;
}

// If the queue was ours, half of the window makes about half of the queue. If another flow had half of it,
// three quarters are left. The delay of few frames falls in steps, and less. What is lost meanwhile may be
// lost to others, too, who then make the queue shorter.
void CongestionWindow::test_end(const Path& path, TimeNs delay) {
  const TimeNs before = delay_before_ - std::min(delay_before_, path.least);
  const TimeNs after = delay - std::min(delay, path.least);
  const unsigned most = before_ <= kFramesFew * path.unit ? kStaysOfFew : kStays;
  const bool shorter = after * 100 < before * most && !too_slow_for_one(before_, delay_before_);
  if (shorter && !disturbed_) {
    mode_ = Mode::alone;
    bytes_ = std::max(bytes_, std::min(before_, path.floor));
    return;
  }
  const bool again = shorter && !was_contended_;
  mode_ = again ? Mode::alone : Mode::contended;
  if (again) test_later();
  bytes_ = before_;
}

// Returns whether `bytes` in `took` are less than a lone sender would get of this path.
bool CongestionWindow::too_slow_for_one(std::uint32_t bytes, TimeNs took) const {
  return std::uint64_t{bytes} * kMillisecond / took < rate_ / kRatePart;
}

// One round tells little: it is short where one of several senders answers quickly.
void CongestionWindow::rate_measured(const Answer& answer) {
  if (++measured_rounds_ < kRateRounds) return;
  measured_rounds_ = 0;
  if (measured_at_ > 0 && answer.now > measured_at_ && answer.arrived > measured_) {
    const std::uint64_t rate = (answer.arrived - measured_) * kMillisecond / (answer.now - measured_at_);
    rate_ = std::max(rate_ - rate_ / kRateForgets,
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(rate, ~0U)));
  }
  measured_ = answer.arrived;
  measured_at_ = answer.now;
}

void CongestionWindow::answered(const Path& path, const Answer& answer) {
  quickest_ = std::min(quickest_, answer.took);
  if (samples_ < kSamples) samples_++;
  if (answer.position <= round_ || samples_ < kSamples || path.least == kNever) return;
  const TimeNs delay = std::exchange(quickest_, kNever);
  round_ = answer.next;
  samples_ = 0;
  rate_measured(answer);
  if (rounds_ < kTestRounds) rounds_++;
  if (calm_ < kCalm) calm_++;
  switch (mode_) {
    case Mode::alone:
      alone_round(path, delay, answer.next);
      break;
    case Mode::contended:
      if (delay <= delay_short(path.least))
        mode_ = Mode::alone;
      else if (rounds_ >= kTestRounds)
        test_begin(delay, answer.next);
      break;
    case Mode::testing:
      if (!std::exchange(settling_, false)) test_end(path, delay);
      break;
  }
}

void CongestionWindow::alone_round(const Path& path, TimeNs delay, std::uint64_t next) {
  const bool others = calm_ < kCalm && delay > delay_long(path.least);
  const bool slow = others && too_slow_for_one(bytes_, delay);
  if (!slow) {
    slow_rounds_ = 0;
  } else if (++slow_rounds_ == kSlowRounds) {
    slow_rounds_ = 0;
    mode_ = Mode::contended;
    lost_rounds_ = rounds_ = 0;
    return;
  }
  const bool waits = lost_rounds_ > 0;
  if (waits ? --lost_rounds_ == 0 : others && bytes_ > std::max(path.floor, kFramesLeast * path.unit))
    test_begin(delay, next);
}

void CongestionWindow::grow(const Path& path, std::uint32_t arrived, bool queueing, bool quick) {
  if (mode_ == Mode::testing) return;
  if (mode_ == Mode::alone && queueing && bytes_ >= path.held * path.unit) {
    doubling_ = false;
    return;
  }
  std::uint64_t more = arrived;
  if (!doubling_) more = (std::uint64_t{arrived} * path.unit + bytes_ - 1) / std::max(bytes_, 1U);
  if (mode_ == Mode::contended) more = (more * 5 + 7) / 8;
  if (!doubling_ && ((quick && mode_ == Mode::alone) || (mode_ == Mode::contended && calm_ == kCalm)))
    more = std::max<std::uint64_t>(more, arrived / kQuickGrowth);
  if (bytes_ < path.unit) more = std::min<std::uint64_t>(more, bytes_);
  bytes_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_ + more, path.most));
}

void CongestionWindow::lost(const Path& path, std::uint64_t position, std::uint64_t next, bool heavy) {
  if (!news(position)) return;
  reacted_ = next;
  calm_ = 0;
  doubling_ = false;
  const bool before_test = mode_ == Mode::testing && position <= test_;
  if (mode_ == Mode::testing && !before_test) {  // a queue that overflows even so is not ours
    mode_ = Mode::contended;
    bytes_ = before_;
  }
  if (before_test) disturbed_ = true;
  std::uint32_t& window = before_test ? before_ : bytes_;
  // Heavy losses have a lower floor. A window below this one stays as it is.
  const std::uint32_t least = std::min(window, path.floor);
  window = std::min(std::max(window - window / (heavy ? 2 : 4), least), std::max(path.most, path.floor));
  // Where the queue was never seen empty, delays alone do not tell that others fill it.
  if (mode_ == Mode::alone && lost_rounds_ == 0) test_later();
}

void CongestionWindow::marked(const Path& path, std::uint64_t position, std::uint64_t next) {
  Path held = path;
  if (!contended()) held.floor = std::max(path.floor, std::min(bytes_, path.held * path.unit));
  lost(held, position, next);
}

}  // namespace omx::protocol
