// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/moderation.h"

#include <algorithm>

namespace omx::runtime {

namespace {

// Strategy adaptive: this many wake-ups by solicited frames, with few frames for each, are no stream.
constexpr unsigned kSolicited = 8;
constexpr std::uint64_t kFramesOfShortMessage = 3;
// Strategy stream: solicited frames that come within this time of each other belong together. While they do,
// the leader polls once in this time. It is about what a wake-up takes, and less than a round trip between
// sleepers.
constexpr TimeNs kCloseNs = 20'000;

}  // namespace

TimeNs Moderation::look_at(TimeNs now) const {
  if (event_mask_ == EventMask::frames) return kNever;
  if (event_mask_ == EventMask::masked && strategy_ == Strategy::stream)
    return std::min(now + kCloseNs, deferred_until_);
  return now + period_;
}

bool Moderation::wants_solicited(const Found& found) const {
  if (strategy_ == Strategy::frame || strategy_ == Strategy::timer) return false;
  return found.by == WokenBy::frame && found.frames && !(strategy_ == Strategy::adaptive && found.useful);
}

void Moderation::learn(const Found& found, bool solicited) {
  switch (strategy_) {
    case Strategy::frame:
      return;
    case Strategy::timer:
      if (found.by == WokenBy::frame && found.frames) event_mask_ = EventMask::masked;
      if (found.by == WokenBy::timer && !found.frames) event_mask_ = EventMask::frames;
      return;
    case Strategy::message:
    case Strategy::stream:
    case Strategy::adaptive:
      learn_solicited(found, solicited);
  }
}

void Moderation::learn_solicited(const Found& found, bool solicited) {
  if (wants_solicited(found)) {
    event_mask_ = solicited ? EventMask::solicited : EventMask::frames;
    solicited_ = 0;
    received_ = found.received;
    messages_ = found.messages;
    woken_ = found.now;
  }
  if (event_mask_ == EventMask::masked) {  // stream: more messages were to follow
    if (found.now >= deferred_until_ || (found.by == WokenBy::timer && !found.frames)) {
      event_mask_ = EventMask::solicited;
      messages_ = found.messages;
    } else {
      deferred_++;
    }
  } else if (found.by == WokenBy::timer && !found.frames) {
    event_mask_ = EventMask::frames;
  }
  if (found.by != WokenBy::solicited) return;
  if (strategy_ == Strategy::adaptive && ++solicited_ >= kSolicited) {
    // Messages of one frame each are no stream: their sender waits for an answer.
    if (found.received - received_ <= kSolicited * kFramesOfShortMessage) event_mask_ = EventMask::frames;
    solicited_ = 0;
    received_ = found.received;
  }
  if (strategy_ == Strategy::stream) defer(found);
  messages_ = found.messages;
  woken_ = found.now;
}

// Masks solicited frames for a while if several messages came at once, or one soon after the other: more
// will follow.
void Moderation::defer(const Found& found) {
  if (found.messages < messages_ + 2 && found.now - woken_ >= kCloseNs) return;
  event_mask_ = EventMask::masked;
  deferred_until_ = found.now + period_;
  deferred_++;
}

}  // namespace omx::runtime
