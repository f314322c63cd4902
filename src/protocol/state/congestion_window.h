// SPDX-License-Identifier: BSD-3-Clause
// Bounds the bytes in flight on one path from delays and losses (docs/explanation/congestion.md).
//
//                 answers take long                  the delay stayed
//   alone -----------------------------> testing ------------------------> contended
//    ^  ^ |                               |  ^                             ^ |   |
//    |  +-|-- the delay became shorter ---+  +---- after kTestRounds ------|-+   |
//    |    +--------------- less than half of the best rate ----------------+     |
//    +--------------------- answers are quick again ----------------------------+
//
// A loss while alone begins a test, too, once others have reacted to the same overflow. A loss of what left
// during a test ends it: the window is then contended. If something from before is lost, the test tells
// nothing. Without losses there are no tests: hosts that do not run make answers late, too.
//
// alone      The queue on the path, if any, is ours. The window grows only while answers are quick.
// testing    The window is halved for a moment, to see whose the queue is.
// contended  Others keep the queue long, whatever we do. The window grows until a frame is lost, as TCP's
// does.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

class CongestionWindow {
 public:
  // Facts of the path, as they are when the window changes. Sizes are in bytes.
  struct Path {
    TimeNs least = kNever;    // the shortest time to an answer
    std::uint32_t unit = 1;   // one frame
    std::uint32_t floor = 0;  // losses and delays make no window smaller than this
    std::uint32_t most = 0;   // growth makes no window larger than this
    // Frames that are in flight even where they make a queue. Fewer would leave the path idle in between.
    std::uint32_t held = 5;
  };

  // The answer to a request. Requests have positions, which are counted in bytes.
  struct Answer {
    TimeNs now, took;
    std::uint64_t position;  // of the request
    std::uint64_t next;      // of the next request
    std::uint64_t arrived;   // all bytes that came by this path so far
  };

  explicit CongestionWindow(std::uint32_t bytes = 0) : bytes_(bytes) {}

  std::uint32_t bytes() const { return bytes_; }
  // Returns whether others seem to keep the queue of the path long, because a smaller window did not shorten
  // it. Where few frames fit, or a port marks early, the queue may be ours.
  bool contended() const { return mode_ == Mode::contended || (mode_ == Mode::testing && was_contended_); }
  bool testing() const { return mode_ == Mode::testing; }

  void answered(const Path& path, const Answer& answer);
  // Grows because `arrived` bytes came while the window was the limit. `queueing`: answers take longer than
  // on an empty path. `quick`: nothing else uses the window, so that it may grow fast.
  void grow(const Path& path, std::uint32_t arrived, bool queueing, bool quick);
  // Shrinks because bytes that were requested at `position` were lost. All losses of one window count once.
  // `heavy`: much of what was sent is lost, so the window is halved.
  void lost(const Path& path, std::uint64_t position, std::uint64_t next, bool heavy = false);
  // Shrinks as lost() does, because a queue marked bytes that were requested at `position` (ECN). Marks
  // make no lone sender's window smaller than `Path::held` frames, but the test that a mark begins may, for a
  // moment.
  void marked(const Path& path, std::uint64_t position, std::uint64_t next);
  // Returns up to which delay the queue of a path is empty.
  static TimeNs delay_short(TimeNs least) { return least + least / 2 + 10'000; }
  // Returns whether a loss at this position is news.
  bool news(std::uint64_t position) const { return position > reacted_; }

 private:
  enum class Mode : std::uint8_t { alone, testing, contended };
  // After so many rounds without a loss no queue overflows.
  static constexpr std::uint8_t kCalm = 64;
  // Rounds from a loss to the test that it begins. Others lost data, too, and send less just now, which would
  // look as if the queue were ours.
  static constexpr std::uint8_t kLossRounds = 3;

  void test_begin(TimeNs delay, std::uint64_t next);
  void test_end(const Path& path, TimeNs delay);
  void alone_round(const Path& path, TimeNs delay, std::uint64_t next);
  void rate_measured(const Answer& answer);
  bool too_slow_for_one(std::uint32_t bytes, TimeNs took) const;
  void test_later() { lost_rounds_ = kLossRounds; }

  std::uint32_t bytes_;
  std::uint32_t before_ = 0;    // the window before the test
  TimeNs delay_before_ = 0;     // the delay before the test
  std::uint64_t test_ = 0;      // position at which the test began
  TimeNs quickest_ = kNever;    // answer since `round_`
  std::uint64_t round_ = 0;     // a round ends with the answer to a later request than this
  std::uint64_t measured_ = 0;  // bytes that had arrived when the rate was last measured
  TimeNs measured_at_ = 0;      // when that was
  std::uint32_t rate_ = 0;      // the best of the last rounds, bytes per millisecond
  std::uint64_t reacted_ = 0;   // losses up to this position are one event
  Mode mode_ = Mode::alone;
  bool doubling_ = true;              // until the first sign that the window is large enough
  bool was_contended_ = false;        // before the test
  bool disturbed_ = false;            // something was lost during the test
  bool settling_ = false;             // answers still show the window before the test
  std::uint8_t slow_rounds_ = 0;      // of the last ones, without a pause
  std::uint8_t samples_ = 0;          // answers in this round
  std::uint8_t measured_rounds_ = 0;  // since `measured_at_`
  std::uint8_t calm_ = kCalm;         // rounds since the last loss, at most kCalm
  std::uint8_t rounds_ = 0;           // since the last test
  std::uint8_t lost_rounds_ = 0;      // until the test that a loss begins; 0: none
};

}  // namespace omx::protocol
