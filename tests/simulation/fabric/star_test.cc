// SPDX-License-Identifier: BSD-3-Clause
// Hosts at one switch: nothing is lost but at full queues, and the modelled TCP behaves like TCP. Time is
// virtual, so rates can be asserted.
#include <gtest/gtest.h>

#include "simulation/fabric/incast.h"
#include "simulation/fabric/statistics.h"

namespace omx::simulation::fabric {
namespace {

using protocol::kMillisecond;

FabricOptions star(std::uint32_t hosts) {
  FabricOptions options;
  options.tree.hosts = hosts;
  options.bits_per_second = 1'000'000'000;
  return options;
}

// The part of the port to host 0 that each flow has in the second half of `time`.
std::vector<double> tcp_shares(Fabric& fabric, std::uint32_t flows, TimeNs time) {
  for (std::uint32_t i = 0; i < flows; i++) fabric.tcp(i).start();
  fabric.run_for(time / 2);
  std::vector<std::uint64_t> before;
  for (std::uint32_t i = 0; i < flows; i++) before.push_back(fabric.tcp(i).figures().delivered);
  fabric.run_for(time / 2);
  std::vector<double> shares;
  for (std::uint32_t i = 0; i < flows; i++) {
    const auto bytes = static_cast<double>((fabric.tcp(i).figures().delivered - before[i]) * kTcpPayload);
    shares.push_back(bytes * 8e9 / static_cast<double>(time / 2) /
                     static_cast<double>(fabric.options().bits_per_second));
  }
  return shares;
}

TEST(fabric_tcp, alone__takes_the_port) {
  for (const TcpKind kind : {TcpKind::reno, TcpKind::cubic}) {
    Fabric fabric(star(2));
    fabric.tcp_add(1, 0, kind);
    EXPECT_GE(tcp_shares(fabric, 1, 2000 * kMillisecond)[0], 0.9) << static_cast<int>(kind);
    EXPECT_EQ(fabric.totals().tcp_dropped, 0U) << "its own NIC is as slow as the port";
  }
}

TEST(fabric_tcp, two_flows__share_the_port) {
  for (const TcpKind kind : {TcpKind::reno, TcpKind::cubic}) {
    Fabric fabric(star(3));
    fabric.tcp_add(1, 0, kind);
    fabric.tcp_add(2, 0, kind);
    const auto shares = tcp_shares(fabric, 2, 4000 * kMillisecond);
    EXPECT_GE(shares[0] + shares[1], 0.9) << static_cast<int>(kind);
    EXPECT_GE(jain(shares), 0.95) << shares[0] << " and " << shares[1];
    EXPECT_GT(fabric.tcp(0).figures().sent_again, 0U);
    EXPECT_EQ(fabric.tcp(0).figures().timeouts, 0U) << "losses of a long flow are found without the timer";
  }
}

TEST(fabric_tcp, waits_and_sends_again__when_everything_is_lost) {
  FabricOptions options = star(2);
  options.queue_bytes = 100;  // takes acknowledgements, no segment
  Fabric fabric(options);
  fabric.tcp_add(1, 0, TcpKind::cubic);
  fabric.tcp(0).start();
  fabric.run_for(8000 * kMillisecond);
  EXPECT_EQ(fabric.tcp(0).figures().delivered, 0U);
  EXPECT_EQ(fabric.tcp(0).figures().timeouts, 3U) << "after 1, 3 and 7 s";
}

TEST(fabric_queue, loses_only_what_does_not_fit) {
  PortLimits limits;
  limits.bits_per_second = 1'000'000'000;
  limits.queue_bytes = 10'000;
  OutputQueue queue(limits, 4000);
  std::uint32_t taken = 0, marked = 0;
  for (int i = 0; i < 20; i++) {
    const OutputQueue::Sent sent = queue.send(protocol::kMillisecond, 1500);
    taken += sent.at > 0;
    marked += sent.marked;
  }
  // The queue counts what waits as on the cable: 1524 bytes each.
  EXPECT_EQ(taken, 6U);
  EXPECT_EQ(queue.port().counters().dropped, 14U);
  EXPECT_EQ(marked, 3U) << "the fourth frame is the first that finds 4000 bytes";
  EXPECT_EQ(queue.marked(), 3U);
  EXPECT_LE(queue.port().counters().deepest, limits.queue_bytes);
  EXPECT_GT(queue.send(2 * protocol::kMillisecond, 1500).at, 0U) << "there is room again";
}

TEST(fabric_queue, record__quantiles) {
  QueueRecord record;
  for (int i = 0; i < 99; i++) record.add(0, 6400);
  record.add(6400, 6400);
  EXPECT_EQ(record.quantile(0.5), 1.0 / 64);
  EXPECT_EQ(record.quantile(0.99), 1.0 / 64);
  EXPECT_EQ(record.quantile(1), 1);
  EXPECT_EQ(QueueRecord{}.quantile(0.5), 0);
}

IncastOptions incast(std::uint32_t senders, std::uint32_t length, std::uint32_t tcp_flows) {
  IncastOptions options;
  options.fabric = star(2);
  options.senders = senders;
  options.length = length;
  options.tcp_flows = tcp_flows;
  options.tcp_alone = 400 * kMillisecond;
  return options;
}

TEST(fabric_incast, loses_no_message) {
  for (const std::uint32_t length : {8U, 4096U, 64U << 10, 1U << 20}) {
    for (const std::uint32_t tcp : {0U, 1U}) {
      const IncastResult r = incast_run(incast(16, length, tcp));
      EXPECT_EQ(r.failure, "");
      EXPECT_EQ(r.messages, 16U) << length << " bytes, " << tcp << " TCP flows";
      EXPECT_LE(r.deepest, 64U << 10);
      EXPECT_GE(r.data_frames, r.frames_needed);
      EXPECT_GE(r.frames, r.data_frames);
    }
  }
}

TEST(fabric_incast, senders_that_go_on__for_a_time) {
  IncastOptions options = incast(4, 64U << 10, 1);
  options.duration = 200 * kMillisecond;
  options.ping_every = 100'000;
  const IncastResult r = incast_run(options);
  EXPECT_EQ(r.failure, "");
  EXPECT_EQ(r.time, options.duration);
  EXPECT_GT(r.messages, 4U);
  EXPECT_GT(r.least, 0);
  EXPECT_LE(r.wire_share + r.tcp.share, 1.01);
  EXPECT_GE(r.tcp_alone.share, 0.9);
  EXPECT_GT(r.ping_p50, 0U);
  EXPECT_GE(r.ping_p99, r.ping_p50);
}

// The queue holds seven frames, and more data wait at each of sixteen senders.
TEST(fabric_incast, senders_that_go_on__fill_the_port_and_lose_next_to_nothing) {
  for (const std::uint32_t length : {64U << 10, 1U << 20}) {
    IncastOptions options = incast(16, length, 0);
    options.fabric.config.mtu = 9000;
    options.at_once = 8;
    options.duration = 1000 * kMillisecond;
    const IncastResult r = incast_run(options);
    EXPECT_EQ(r.failure, "");
    EXPECT_GE(r.wire_share, 0.9) << length << " bytes";
    EXPECT_LE(r.data_frames * 100, r.frames_needed * 101) << length << " bytes";
    EXPECT_GE(r.least, 0.5) << length << " bytes";
  }
}

TEST(fabric_incast, one_sender__fills_the_port) {
  IncastOptions options = incast(1, 8U << 20, 0);
  const IncastResult r = incast_run(options);
  EXPECT_EQ(r.failure, "");
  EXPECT_EQ(r.dropped, 0U);
  EXPECT_GE(r.time, r.ideal);
  EXPECT_GE(r.share, 0.9);
}

TEST(fabric_incast, same_seed_same_run) {
  IncastOptions options = incast(8, 256U << 10, 1);
  const IncastResult first = incast_run(options);
  EXPECT_EQ(incast_run(options).digest, first.digest);
  EXPECT_EQ(incast_run(options).time, first.time);
  options.fabric.seed = 2;
  EXPECT_NE(incast_run(options).digest, first.digest);
}

TEST(statistics, quantiles_and_fairness) {
  std::vector<int> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(quantile(values, 0.5), 3);
  EXPECT_EQ(quantile(values, 0.99), 5);
  EXPECT_EQ(quantile(values, 0), 1);
  std::vector<int> none;
  EXPECT_EQ(quantile(none, 0.5), 0);
  EXPECT_DOUBLE_EQ(jain({3, 3, 3}), 1);
  EXPECT_DOUBLE_EQ(jain({1, 0, 0, 0}), 0.25);
  EXPECT_EQ(jain({0, 0}), 0);
}

}  // namespace
}  // namespace omx::simulation::fabric
