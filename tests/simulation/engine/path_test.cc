// SPDX-License-Identifier: BSD-3-Clause
// Streams over long and bad paths. Time is virtual here, so rates can be asserted.
#include "simulation/engine/path.h"

#include <gtest/gtest.h>

#include "protocol/types.h"

namespace omx::simulation {
namespace {

using protocol::kMillisecond;

PathOptions path(TimeNs delay, double loss, double reorder) {
  PathOptions options;
  options.delay = delay;
  options.loss = loss;
  options.reorder = reorder;
  options.window = 64;
  options.time = 1000 * kMillisecond;
  return options;
}

constexpr TimeNs kDelays[] = {kMillisecond / 100, kMillisecond / 10, kMillisecond, 10 * kMillisecond};

TEST(Path, loss__at_one_percent_five_times_as_fast_as_tcp) {
  for (const TimeNs delay : kDelays) {
    for (const double reorder : {0.0, 0.1}) {
      const PathOptions options = path(delay, 0.01, reorder);
      const PathResult r = path_run(options);
      EXPECT_EQ(r.failure, "");
      const double line = static_cast<double>(options.bits_per_second) / 8;
      EXPECT_GE(r.bytes_per_second, std::min(5 * r.tcp_bytes_per_second, 0.85 * line))
          << delay << " " << reorder;
      EXPECT_LT(r.resent_share, 0.15) << delay << " " << reorder;
    }
  }
}

TEST(Path, loss__as_fast_as_tcp_where_more_is_lost) {
  for (const TimeNs delay : kDelays) {
    const PathResult r = path_run(path(delay, 0.05, 0));
    EXPECT_EQ(r.failure, "");
    EXPECT_GE(r.bytes_per_second, 0.9 * r.tcp_bytes_per_second) << delay;
    EXPECT_EQ(r.given_up, 0U);
  }
}

TEST(Path, reordering__is_not_taken_for_loss) {
  for (const TimeNs delay : kDelays) {
    const PathResult r = path_run(path(delay, 0, 0.1));
    EXPECT_EQ(r.failure, "");
    EXPECT_GE(r.bytes_per_second, 0.9 * r.tcp_bytes_per_second) << delay;
    EXPECT_LT(r.resent_share, 0.1) << delay;
  }
}

TEST(Path, short_messages__as_fast_as_tcp_at_one_percent) {
  for (const TimeNs delay : {kMillisecond, 10 * kMillisecond}) {
    for (const double reorder : {0.0, 0.1}) {
      PathOptions options = path(delay, 0.01, reorder);
      options.length = 4096;
      double ours = 0, tcp = 0;
      for (options.seed = 1; options.seed <= 6; options.seed++) {
        const PathResult r = path_run(options);
        EXPECT_EQ(r.failure, "");
        ours += r.bytes_per_second;
        tcp += r.tcp_bytes_per_second;
      }
      // A frame that is only late counts as lost at first, and so as congestion.
      const double times = reorder > 0 ? 1 : 4;
      EXPECT_GE(ours, times * tcp) << delay << " " << reorder;
    }
  }
}

// The requests beyond the window may overflow a queue on the path.
TEST(Path, sleeping_receiver__does_not_overrun_a_slow_way) {
  PathOptions options = path(kMillisecond, 0, 0);
  options.bits_per_second = 200'000'000;
  options.sleeps = true;
  const PathResult r = path_run(options);
  EXPECT_EQ(r.failure, "");
  EXPECT_GE(r.bytes_per_second, 0.9 * r.tcp_bytes_per_second);
  EXPECT_LT(r.resent_share, 0.2);
}

TEST(Path, start__of_many_messages_does_not_overrun_a_far_way) {
  for (const TimeNs delay : {10 * kMillisecond, 100 * kMillisecond}) {
    for (const bool sleeps : {false, true}) {
      PathOptions options = path(delay, 0, 0);
      options.bits_per_second = 200'000'000;
      options.sleeps = sleeps;
      options.warm_up = 0;
      options.time = 60 * delay;
      const PathResult r = path_run(options);
      EXPECT_EQ(r.failure, "");
      EXPECT_GE(r.bytes_per_second, 0.7 * r.tcp_bytes_per_second) << delay << " " << sleeps;
      EXPECT_LT(r.resent_share, 0.3) << delay << " " << sleeps;
    }
  }
}

TEST(Path, far__fills_the_way) {
  PathOptions options = path(100 * kMillisecond, 0, 0);
  options.time = 5000 * kMillisecond;
  const PathResult r = path_run(options);
  EXPECT_EQ(r.failure, "");
  // Two round trips for each message: announced, asked for, sent, notified.
  EXPECT_GE(r.bytes_per_second, 0.8 * options.window * options.length / 0.4);
}

}  // namespace
}  // namespace omx::simulation
