// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/moderation.h"

#include <gtest/gtest.h>

namespace omx::runtime {
namespace {

using EventMask = Moderation::EventMask;
using WokenBy = Moderation::WokenBy;

constexpr TimeNs kPeriod = 500'000;

class moderation : public ::testing::Test {
 protected:
  void use(Strategy strategy) { m_ = Moderation(strategy, kPeriod); }
  // Ends a sleep of `slept` that found these numbers of frames and messages.
  void woken(WokenBy by, std::uint64_t frames, std::uint64_t messages, TimeNs slept, bool solicited = true) {
    found_.by = by;
    found_.frames = frames > 0;
    found_.useful = messages > 0;
    found_.received += frames;
    found_.messages += messages;
    found_.now += slept;
    m_.learn(found_, solicited);
  }
  TimeNs now() const { return found_.now; }

  Moderation m_{Strategy::adaptive, kPeriod};
  Moderation::Found found_{.now = 1'000'000'000};
};

TEST_F(moderation, frame__hears_every_frame_whatever_happens) {
  use(Strategy::frame);
  for (int i = 0; i < 20; i++) {
    EXPECT_FALSE(m_.wants_solicited({.by = WokenBy::frame, .frames = true}));
    woken(WokenBy::frame, 1, 0, 1000);
    EXPECT_EQ(m_.event_mask(), EventMask::frames);
    EXPECT_EQ(m_.look_at(now()), kNever);
  }
}

TEST_F(moderation, timer__hears_nothing_until_a_look_in_vain) {
  use(Strategy::timer);
  EXPECT_EQ(m_.event_mask(), EventMask::frames);  // idle: the first frame wakes
  woken(WokenBy::frame, 1, 1, 1000);
  EXPECT_EQ(m_.event_mask(), EventMask::masked);
  EXPECT_EQ(m_.look_at(now()), now() + kPeriod);
  woken(WokenBy::timer, 5, 0, kPeriod);
  EXPECT_EQ(m_.event_mask(), EventMask::masked);
  woken(WokenBy::other, 0, 0, 1000);  // an event that concerns no frames
  EXPECT_EQ(m_.event_mask(), EventMask::masked);
  woken(WokenBy::timer, 0, 0, kPeriod);
  EXPECT_EQ(m_.event_mask(), EventMask::frames);
}

TEST_F(moderation, message__hears_marks_from_the_first_frame_on) {
  use(Strategy::message);
  woken(WokenBy::frame, 1, 1, 1000);  // even a frame that was waited for
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  EXPECT_EQ(m_.look_at(now()), now() + kPeriod);
  // Lone solicited frames never change the event mask, either.
  for (int i = 0; i < 50; i++) woken(WokenBy::solicited, 1, 1, 1000);
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  EXPECT_EQ(m_.deferred(), 0U);
  woken(WokenBy::timer, 3, 0, kPeriod);
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  woken(WokenBy::timer, 0, 0, kPeriod);
  EXPECT_EQ(m_.event_mask(), EventMask::frames);
}

TEST_F(moderation, marks_that_cannot_be_heard__every_frame) {
  for (const Strategy strategy : {Strategy::message, Strategy::stream, Strategy::adaptive}) {
    use(strategy);
    woken(WokenBy::frame, 1, 0, 1000, false);
    EXPECT_EQ(m_.event_mask(), EventMask::frames) << strategy_name(strategy);
    EXPECT_EQ(m_.look_at(now()), kNever);
  }
}

TEST_F(moderation, stream__is_deaf_while_marks_follow_each_other) {
  use(Strategy::stream);
  woken(WokenBy::frame, 1, 1, 1000);
  woken(WokenBy::solicited, 1, 1, 10 * kPeriod);  // a lone solicited frame
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  woken(WokenBy::solicited, 1, 1, 5000);  // soon after the first
  EXPECT_EQ(m_.event_mask(), EventMask::masked);
  EXPECT_EQ(m_.deferred(), 1U);
  // The sleeper polls soon, and never leaves a message for longer than the period.
  const TimeNs until = now() + kPeriod;
  EXPECT_LT(m_.look_at(now()), now() + kPeriod / 5);
  EXPECT_EQ(m_.look_at(until - 1), until);
  woken(WokenBy::timer, 4, 4, 20'000);
  EXPECT_EQ(m_.event_mask(), EventMask::masked);
  woken(WokenBy::timer, 0, 0, 20'000);  // the last message came before
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  woken(WokenBy::timer, 0, 0, kPeriod);
  EXPECT_EQ(m_.event_mask(), EventMask::frames);
}

TEST_F(moderation, stream__a_ping_pong_is_none) {
  use(Strategy::stream);
  woken(WokenBy::frame, 1, 1, 1000);
  for (int i = 0; i < 50; i++) woken(WokenBy::solicited, 1, 1, 40'000);
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  EXPECT_EQ(m_.deferred(), 0U);
}

TEST_F(moderation, stream__several_messages_at_once_are_marks_that_follow_each_other) {
  use(Strategy::stream);
  woken(WokenBy::frame, 1, 1, 1000);
  woken(WokenBy::solicited, 1, 1, kPeriod);
  woken(WokenBy::solicited, 6, 3, kPeriod);
  EXPECT_EQ(m_.event_mask(), EventMask::masked);
}

TEST_F(moderation, stream__listens_again_after_the_period_though_more_follow) {
  use(Strategy::stream);
  woken(WokenBy::frame, 1, 1, 1000);
  woken(WokenBy::solicited, 3, 3, 1000);
  ASSERT_EQ(m_.event_mask(), EventMask::masked);
  // This must happen whatever ended the sleep. Otherwise the deadline would be over, and the thread would
  // never sleep again.
  woken(WokenBy::other, 3, 3, kPeriod);
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  EXPECT_GT(m_.look_at(now()), now());
}

TEST_F(moderation, adaptive__hears_marks_when_frames_came_in_vain) {
  woken(WokenBy::frame, 1, 1, 1000);  // a message of one frame
  EXPECT_EQ(m_.event_mask(), EventMask::frames);
  woken(WokenBy::frame, 1, 0, 1000);
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  // With large messages the event mask stays.
  for (int i = 0; i < 30; i++) woken(WokenBy::solicited, 100, 1, 100'000);
  EXPECT_EQ(m_.event_mask(), EventMask::solicited);
  // Messages of one frame each end it.
  for (int i = 0; i < 30; i++) woken(WokenBy::solicited, 1, 1, 10'000);
  EXPECT_EQ(m_.event_mask(), EventMask::frames);
}

TEST(strategies, parse_and_print) {
  const auto text = [](const char* s) {
    const auto parsed = Strategies::parse(s);
    return parsed ? parsed->print() : "?";
  };
  EXPECT_EQ(Strategies().print(), "adaptive");
  for (const char* name : {"frame", "timer", "message", "stream", "adaptive"}) EXPECT_EQ(text(name), name);
  EXPECT_EQ(text("message,255:frame,3:timer"), "message,3:timer,255:frame");
  EXPECT_EQ(text("0:stream"), "adaptive,0:stream");
  for (const char* bad :
       {"", "frames", "message,", ",message", "message,timer", "256:frame", "-1:frame", "1:", ":frame",
        "x:frame", "1:frame:2", "1:frame,message", "message,3:frame,3:timer", "3:frame,3:frame"})
    EXPECT_EQ(text(bad), "?") << bad;
  const auto parsed = Strategies::parse("message,3:frame");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->of(3), Strategy::frame);
  EXPECT_EQ(parsed->of(4), Strategy::message);
}

}  // namespace
}  // namespace omx::runtime
