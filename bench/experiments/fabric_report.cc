// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/fabric_report.h"

#include <fmt/format.h>

namespace omx::bench {

using namespace simulation::fabric;
using simulation::TimeNs;

namespace {

double us(TimeNs time) {
  return static_cast<double>(time) / 1e3;
}

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

constexpr const char* kTierNames[] = {"nic", "leaf_down", "leaf_up", "spine_down", "spine_up", "core_down"};

}  // namespace

void incast_json(const FabricProgram& o, std::uint64_t seed, const IncastResult& r) {
  const IncastOptions& i = o.incast;
  fmt::print(
      "{{\"experiment\":\"incast\",\"seed\":{},\"senders\":{},\"size\":{},\"gigabits\":{},\"queue\":{},"
      "\"mtu\":{},\"tcp\":{},\"failure\":\"{}\",",
      seed, i.senders, i.length, o.gigabits, o.fabric.queue_bytes, o.fabric.config.mtu, i.tcp_flows,
      r.failure);
  fmt::print(
      "\"messages\":{},\"time_us\":{:.3f},\"ideal_us\":{:.3f},\"share\":{:.4f},\"wire_share\":{:.4f},"
      "\"jain\":{:.4f},\"least\":{:.4f},\"p50_us\":{:.3f},\"p99_us\":{:.3f},\"most_us\":{:.3f},",
      r.messages, us(r.time), us(r.ideal), r.share, r.wire_share, r.jain, r.least, us(r.p50), us(r.p99),
      us(r.most));
  fmt::print(
      "\"frames\":{},\"data_frames\":{},\"frames_needed\":{},\"dropped\":{},\"marked\":{},\"queue_p50\":{},"
      "\"queue_p99\":{},\"queue_most\":{},",
      r.frames, r.data_frames, r.frames_needed, r.dropped, r.marked, r.queue_p50, r.queue_p99, r.deepest);
  fmt::print(
      "\"tcp_share\":{:.4f},\"tcp_jain\":{:.4f},\"tcp_rtt_p50_us\":{:.3f},\"tcp_rtt_p99_us\":{:.3f},"
      "\"tcp_alone_share\":{:.4f},\"tcp_alone_rtt_p50_us\":{:.3f},\"tcp_alone_rtt_p99_us\":{:.3f},"
      "\"tcp_sent\":{},\"tcp_sent_again\":{},\"tcp_timeouts\":{},\"tcp_dropped\":{},",
      r.tcp.share, r.tcp.jain, us(r.tcp.rtt_p50), us(r.tcp.rtt_p99), r.tcp_alone.share,
      us(r.tcp_alone.rtt_p50), us(r.tcp_alone.rtt_p99), r.tcp_sent, r.tcp_sent_again, r.tcp_timeouts,
      r.tcp_dropped);
  fmt::print("\"ping_p50_us\":{:.3f},\"ping_p99_us\":{:.3f},\"events\":{},\"digest\":\"{:016x}\"}}\n",
             us(r.ping_p50), us(r.ping_p99), r.events, r.digest);
}

void incast_text(const FabricProgram& o, std::uint64_t seed, const IncastResult& r) {
  const IncastOptions& i = o.incast;
  fmt::print("seed {}: {} senders of {} bytes, {} Gb/s, queue {} bytes, MTU {}, {} TCP flows\n", seed,
             i.senders, i.length, o.gigabits, o.fabric.queue_bytes, o.fabric.config.mtu, i.tcp_flows);
  fmt::print("  messages          {:10}  in {:.3f} ms; frames without a gap: {:.3f} ms\n", r.messages,
             us(r.time) / 1e3, us(r.ideal) / 1e3);
  fmt::print("  share of the port {:10.1f} % payload, {:.1f} % with headers and repetitions\n", r.share * 100,
             r.wire_share * 100);
  fmt::print("  senders           {:10.3f} Jain's index; the least one has {:.2f} of its share\n", r.jain,
             r.least);
  fmt::print("  time of a message {:10.1f} us p50, {:.1f} p99, {:.1f} most\n", us(r.p50), us(r.p99),
             us(r.most));
  fmt::print("  data frames       {:10} sent for {} needed ({:.4f}); all frames {:.4f} for each needed\n",
             r.data_frames, r.frames_needed, ratio(r.data_frames, r.frames_needed),
             ratio(r.frames, r.frames_needed));
  fmt::print("  dropped           {:10} of ours, {} of TCP; {} marked\n", r.dropped, r.tcp_dropped, r.marked);
  fmt::print("  queue of the port {:10} bytes p50, {} p99, {} most\n", r.queue_p50, r.queue_p99, r.deepest);
  if (i.tcp_flows > 0) {
    fmt::print("  TCP alone         {:10.1f} % of the port, round trip {:.0f} us p50, {:.0f} p99\n",
               r.tcp_alone.share * 100, us(r.tcp_alone.rtt_p50), us(r.tcp_alone.rtt_p99));
    fmt::print(
        "  TCP beside        {:10.1f} % of the port, round trip {:.0f} us p50, {:.0f} p99, Jain {:.3f}, {} "
        "of "
        "{} segments sent again, {} time-outs\n",
        r.tcp.share * 100, us(r.tcp.rtt_p50), us(r.tcp.rtt_p99), r.tcp.jain, r.tcp_sent_again, r.tcp_sent,
        r.tcp_timeouts);
  }
  if (o.ping_us > 0)
    fmt::print("  8 B               {:10.1f} us p50, {:.1f} p99\n", us(r.ping_p50), us(r.ping_p99));
}

void traffic_json(const FabricProgram& o, std::uint64_t seed, TrafficResult& r) {
  const TreeShape& tree = o.fabric.tree;
  fmt::print(
      "{{\"experiment\":\"traffic\",\"seed\":{},\"workload\":\"{}\",\"load\":{},\"hosts\":{},\"leaf\":{},"
      "\"oversubscription\":{},\"gigabits\":{},\"queue\":{},\"mtu\":{},\"tcp\":{},\"duration_ms\":{},"
      "\"failure\":\"{}\",",
      seed, o.workload, o.traffic.load, tree.hosts, tree.hosts_per_leaf, tree.oversubscription, o.gigabits,
      o.fabric.queue_bytes, o.fabric.config.mtu, o.traffic.tcp_flows, o.traffic_ms, r.failure);
  fmt::print(
      "\"messages\":{},\"bytes\":{},\"unfinished\":{},\"host_load\":{:.4f},\"in_time\":{:.4f},"
      "\"time_us\":{:.3f},\"frames\":{},\"data_frames\":{},\"frames_needed\":{},\"ring_dropped\":{},"
      "\"tcp_dropped\":{},\"jain\":{:.4f},\"tcp_share\":{:.4f},",
      r.messages, r.bytes, r.unfinished, r.host_load, r.goodput, us(r.time), r.frames, r.data_frames,
      r.frames_needed, r.ring_dropped, r.tcp_dropped, r.jain, r.tcp_share);
  fmt::print("\"tiers\":{{");
  for (std::size_t i = 1; i < kTiers; i++)
    fmt::print("{}\"{}\":{{\"dropped\":{},\"queue_p99\":{:.4f}}}", i > 1 ? "," : "", kTierNames[i],
               r.dropped[i], r.queue_p99[i]);
  fmt::print("}},\"slowdown\":[");
  for (std::size_t i = 0, printed = 0; i < kBuckets.size(); i++) {
    if (r.engine.count(i) == 0) continue;
    const Quantiles e = r.engine.quantiles(i), b = r.ideal.quantiles(i);
    fmt::print(
        "{}{{\"up_to\":{},\"messages\":{},\"alone\":{:.3f},\"p50\":{:.3f},\"p99\":{:.3f},\"p999\":{:.3f},"
        "\"ideal_p50\":{:.3f},\"ideal_p99\":{:.3f},\"ideal_p999\":{:.3f}}}",
        printed++ > 0 ? "," : "", kBuckets[i], r.engine.count(i), r.alone[i], e.p50, e.p99, e.p999, b.p50,
        b.p99, b.p999);
  }
  fmt::print(
      "],\"cpu_seconds\":{:.2f},\"events\":{},\"resident_bytes\":{},\"peers\":{},\"peer_bytes\":{},"
      "\"packets_most\":{},\"digest\":\"{:016x}\"}}\n",
      r.cost.cpu_seconds, r.cost.events, r.cost.resident_bytes, r.cost.peers, r.cost.peer_bytes,
      r.cost.packets, r.digest);
}

void traffic_text(const FabricProgram& o, std::uint64_t seed, TrafficResult& r) {
  const TreeShape& tree = o.fabric.tree;
  fmt::print(
      "seed {}: {} at load {}, {} hosts, {} at a leaf, oversubscribed {}:1, {} Gb/s, queue {} bytes, MTU {}, "
      "{} TCP flows\n",
      seed, o.workload, o.traffic.load, tree.hosts, tree.hosts_per_leaf, tree.oversubscription, o.gigabits,
      o.fabric.queue_bytes, o.fabric.config.mtu, o.traffic.tcp_flows);
  fmt::print(
      "  {} messages, {:.1f} MB; hosts send {:.1f} % of their rate; {:.1f} % of the bytes came within {} ms, "
      "the last message after {:.1f} ms; {} never came\n",
      r.messages, static_cast<double>(r.bytes) / 1e6, r.host_load * 100, r.goodput * 100, o.traffic_ms,
      us(r.time) / 1e3, r.unfinished);
  fmt::print(
      "  slowdown    up to  messages   alone |  p50      p99    p99.9 | ideal p50      p99    p99.9\n");
  for (std::size_t i = 0; i < kBuckets.size(); i++) {
    if (r.engine.count(i) == 0) continue;
    const Quantiles e = r.engine.quantiles(i), b = r.ideal.quantiles(i);
    const std::string most = kBuckets[i] == UINT32_MAX ? "more" : fmt::format("{}", kBuckets[i]);
    fmt::print("  {:>16} {:9} {:7.2f} | {:6.2f} {:8.2f} {:8.2f} | {:8.2f} {:8.2f} {:8.2f}\n", most,
               r.engine.count(i), r.alone[i], e.p50, e.p99, e.p999, b.p50, b.p99, b.p999);
  }
  const Quantiles e = r.engine.all(), b = r.ideal.all();
  fmt::print("  {:>16} {:9} {:>7} | {:6.2f} {:8.2f} {:8.2f} | {:8.2f} {:8.2f} {:8.2f}\n", "all", r.messages,
             "", e.p50, e.p99, e.p999, b.p50, b.p99, b.p999);
  fmt::print("  data frames {} sent for {} needed ({:.4f}); all frames {:.4f} for each needed; Jain {:.3f}\n",
             r.data_frames, r.frames_needed, ratio(r.data_frames, r.frames_needed),
             ratio(r.frames, r.frames_needed), r.jain);
  for (std::size_t i = 1; i < kTiers; i++)
    if (r.queue_p99[i] > 0)
      fmt::print("  {:10} ports: {} frames dropped, queue {:.0f} % full at p99\n", kTierNames[i],
                 r.dropped[i], r.queue_p99[i] * 100);
  if (r.ring_dropped > 0) fmt::print("  {} frames dropped by full rings\n", r.ring_dropped);
  if (o.traffic.tcp_flows > 0)
    fmt::print("  TCP flows have {:.2f} % of their links each; {} frames dropped\n", r.tcp_share * 100,
               r.tcp_dropped);
  fmt::print(
      "  {:.1f} s of processor, {} events ({:.2f} us each), {:.0f} MB resident, {} peers of {:.0f} bytes, {} "
      "frames at once\n",
      r.cost.cpu_seconds, r.cost.events, r.cost.cpu_seconds * 1e6 / static_cast<double>(r.cost.events),
      static_cast<double>(r.cost.resident_bytes) / 1e6, r.cost.peers, ratio(r.cost.peer_bytes, r.cost.peers),
      r.cost.packets);
}

void peers_print(const FabricProgram& o, const PeerMemoryResult& r) {
  const char* format =
      o.json ? "{{\"experiment\":\"peers\",\"object\":{},\"known\":{},\"peers\":{},\"connected\":{:.1f},"
               "\"small\":{:.1f},\"large\":{:.1f}}}\n"
             : "an object has {} bytes; the first host has {} peers before it talks, {} after that\n"
               "bytes for each idle peer, with tables: connected {:.1f}, after 8 B both ways {:.1f}, "
               "after 256 KiB both ways {:.1f}\n";
  fmt::print(fmt::runtime(format), r.object, r.known, r.connected.peers, r.connected.bytes, r.small.bytes,
             r.large.bytes);
}

}  // namespace omx::bench
