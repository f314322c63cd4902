// SPDX-License-Identifier: BSD-3-Clause
// Many senders at once. Time is virtual here, so rates can be asserted.
#include "simulation/engine/scale.h"

#include <gtest/gtest.h>

namespace omx::simulation {
namespace {

ScaleOptions incast(std::uint32_t hosts, std::uint32_t mtu) {
  ScaleOptions options;
  options.hosts = hosts;
  options.mtu = mtu;
  return options;
}

TEST(scale, incast__fills_the_port_and_overruns_nothing) {
  for (const std::uint32_t mtu : {1500U, 9000U}) {
    for (const std::uint32_t hosts : {2U, 3U, 7U, 8U, 9U, 10U, 11U, 65U}) {
      const ScaleResult r = scale_run(incast(hosts, mtu));
      EXPECT_EQ(r.failure, "");
      EXPECT_EQ(r.messages, hosts - 1);
      EXPECT_GE(r.port_share, 0.9) << hosts << " hosts, MTU " << mtu;
      EXPECT_LT(r.resent_share(), 0.01) << hosts << " hosts, MTU " << mtu;
    }
  }
}

// A block that is lost again counts as another loss. Otherwise the other senders leave it no room until they
// are done.
TEST(scale, incast__small_ports__nobody_is_left_behind) {
  for (const std::uint32_t mtu : {1500U, 9000U}) {
    ScaleOptions options = incast(65, mtu);
    options.queue_bytes = 128U << 10;
    const ScaleResult r = scale_run(options);
    EXPECT_EQ(r.failure, "");
    EXPECT_GE(r.port_share, 0.9) << "MTU " << mtu;
    EXPECT_LT(r.resent_share(), 0.02) << "MTU " << mtu;
  }
}

TEST(scale, incast__starves_nobody) {
  // Each sender sends eight messages. A sender that is served less than the others finishes long after them.
  ScaleOptions options = incast(33, 9000);
  options.messages = 8;
  const ScaleResult r = scale_run(options);
  EXPECT_EQ(r.failure, "");
  EXPECT_GT(static_cast<double>(r.first_done), 0.8 * static_cast<double>(r.last_done));
}

TEST(scale, incast__at_other_rates_and_queues) {
  for (const std::uint64_t gigabits : {1, 25, 100}) {
    ScaleOptions options = incast(17, 1500);
    options.bits_per_second = gigabits * 1'000'000'000;
    EXPECT_GE(scale_run(options).port_share, 0.9) << gigabits << " Gb/s";
  }
  ScaleOptions options = incast(17, 1500);
  options.queue_bytes = 64U << 10;
  EXPECT_GE(scale_run(options).port_share, 0.5) << "a port of 64 KiB";
}

TEST(scale, all_to_all__small_messages) {
  ScaleOptions options;
  options.shape = ScaleShape::all_to_all;
  options.hosts = 60;
  options.length = 16;
  options.messages = 3;
  const ScaleResult r = scale_run(options);
  EXPECT_EQ(r.failure, "");
  EXPECT_EQ(r.messages, 60U * 59 * 3);
  EXPECT_LT(r.resent_share(), 0.01);
}

}  // namespace
}  // namespace omx::simulation
