// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/moderation.h"

#include <algorithm>

namespace omx::runtime {

namespace {

// adaptive: so many wake-ups by marks, with no more than so many frames for each, are no stream.
constexpr unsigned kMarks = 8;
constexpr std::uint64_t kFramesOfShortMessage = 3;
// stream: marked frames this close follow each other, and so often it looks meanwhile; about what a wake-up
// takes, and less than a round trip of sleepers.
constexpr TimeNs kCloseNs = 20'000;

}  // namespace

TimeNs Moderation::look_at(TimeNs now) const {
  if (ears_ == Ears::frames) return kNever;
  if (ears_ == Ears::none && strategy_ == Strategy::stream) return std::min(now + kCloseNs, deferred_until_);
  return now + period_;
}

bool Moderation::wants_marks(const Found& found) const {
  if (strategy_ == Strategy::frame || strategy_ == Strategy::timer) return false;
  return found.by == WokenBy::frame && found.frames && !(strategy_ == Strategy::adaptive && found.useful);
}

void Moderation::learn(const Found& found, bool marks) {
  switch (strategy_) {
    case Strategy::frame:
      return;
    case Strategy::timer:
      if (found.by == WokenBy::frame && found.frames) ears_ = Ears::none;
      if (found.by == WokenBy::timer && !found.frames) ears_ = Ears::frames;
      return;
    case Strategy::message:
    case Strategy::stream:
    case Strategy::adaptive:
      learn_marks(found, marks);
  }
}

void Moderation::learn_marks(const Found& found, bool marks) {
  if (wants_marks(found)) {
    ears_ = marks ? Ears::marks : Ears::frames;
    marks_ = 0;
    received_ = found.received;
    messages_ = found.messages;
    woken_ = found.now;
  }
  if (ears_ == Ears::none) {  // stream: more were to follow
    if (found.now >= deferred_until_ || (found.by == WokenBy::timer && !found.frames)) {
      ears_ = Ears::marks;
      messages_ = found.messages;
    } else {
      deferred_++;
    }
  } else if (found.by == WokenBy::timer && !found.frames) {
    ears_ = Ears::frames;
  }
  if (found.by != WokenBy::mark) return;
  if (strategy_ == Strategy::adaptive && ++marks_ >= kMarks) {
    // Messages of a frame each are no stream: whoever sent them waits for an answer.
    if (found.received - received_ <= kMarks * kFramesOfShortMessage) ears_ = Ears::frames;
    marks_ = 0;
    received_ = found.received;
  }
  if (strategy_ == Strategy::stream) defer(found);
  messages_ = found.messages;
  woken_ = found.now;
}

// Several at once, or one soon after the other: more will follow.
void Moderation::defer(const Found& found) {
  if (found.messages < messages_ + 2 && found.now - woken_ >= kCloseNs) return;
  ears_ = Ears::none;
  deferred_until_ = found.now + period_;
  deferred_++;
}

}  // namespace omx::runtime
