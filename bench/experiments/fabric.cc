// SPDX-License-Identifier: BSD-3-Clause
// Real engines and modelled TCP flows on a simulated fabric with short queues:
//   omx_fabric incast --senders 16 --size 1M --rate 1 --queue 64K --tcp 1 --duration 500
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "simulation/fabric/incast.h"

namespace {

using namespace omx::simulation::fabric;
using omx::simulation::TimeNs;

struct Options {
  IncastOptions incast;
  double gigabits = 10, duration_ms = 0, alone_ms = 1000, ping_us = 0, delay_us = 0.5, poll_least_us = 0.5,
         poll_most_us = 2;
  std::uint32_t seeds = 1;
  bool json = false;
};

TimeNs ns(double value, double unit) {
  return static_cast<TimeNs>(value * unit);
}

// The options of the fabric, which all commands have.
void fabric_options(CLI::App& app, Options& o) {
  FabricOptions& f = o.incast.fabric;
  const auto bytes = [&](const char* name, auto& value, const char* text) {
    app.add_option(name, value, text)->transform(CLI::AsSizeValue(false))->capture_default_str();
  };
  app.add_option("--hosts", f.tree.hosts,
                 "hosts at the switches; more are added where the command needs them")
      ->check(CLI::Range(2, 200000))
      ->capture_default_str();
  app.add_option("--leaf", f.tree.hosts_per_leaf, "hosts at each leaf; 0: all at one switch")
      ->capture_default_str();
  app.add_option("--pod", f.tree.leaves_per_pod, "leaves of a pod")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--oversubscription", f.tree.oversubscription,
                 "rate of a leaf's hosts over that of its links upwards")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--rate", o.gigabits, "rate of all links, Gb/s")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str();
  app.add_option("--delay", o.delay_us, "delay of a link and the forwarding behind it, us")
      ->capture_default_str();
  bytes("--queue", f.queue_bytes, "queue of each port of a switch, bytes");
  bytes("--mark", f.mark_bytes, "mark frames that find so many bytes in a queue; 0: none");
  bytes("--nic-queue", f.nic_bytes, "bytes in the queue of a host's NIC from which the host waits");
  app.add_option("--mtu", f.config.mtu, "MTU of the links")
      ->check(CLI::Range(576, 65521))
      ->capture_default_str();
  app.add_option("--poll-least", o.poll_least_us,
                 "shortest time from a frame's arrival to the host's poll, us")
      ->capture_default_str();
  app.add_option("--poll-most", o.poll_most_us, "longest such time, us")->capture_default_str();
  app.add_option("--seed", f.seed, "first seed")->capture_default_str();
  app.add_option("--seeds", o.seeds, "runs, each with the next seed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--json", o.json, "print a JSON object for each run");
}

void incast_options(CLI::App& app, Options& o) {
  IncastOptions& i = o.incast;
  app.add_option("--senders", i.senders, "hosts that send to the first one")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--size", i.length, "bytes of a message")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--messages", i.messages, "messages of each sender, one after the other")
      ->capture_default_str();
  app.add_option("--at-once", i.at_once, "messages of a sender under way at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--duration", o.duration_ms, "instead of --messages: how long senders begin messages, ms");
  app.add_option("--tcp", i.tcp_flows, "TCP flows to the same host, each from a host of its own")
      ->capture_default_str();
  app.add_option("--tcp-kind", i.tcp_kind, "cubic or reno")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, TcpKind>{{"cubic", TcpKind::cubic}, {"reno", TcpKind::reno}}));
  app.add_option("--tcp-alone", o.alone_ms,
                 "how long TCP runs before the others start, ms; half of it is measured")
      ->capture_default_str();
  app.add_option("--ping", o.ping_us,
                 "one more host sends a message of 8 B so often after the last came, us; 0: none")
      ->capture_default_str();
}

double us(TimeNs time) {
  return static_cast<double>(time) / 1e3;
}

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

void incast_json(const Options& o, std::uint64_t seed, const IncastResult& r) {
  const IncastOptions& i = o.incast;
  fmt::print(
      "{{\"experiment\":\"incast\",\"seed\":{},\"senders\":{},\"size\":{},\"gigabits\":{},\"queue\":{},"
      "\"mtu\":{},\"tcp\":{},\"failure\":\"{}\",",
      seed, i.senders, i.length, o.gigabits, i.fabric.queue_bytes, i.fabric.config.mtu, i.tcp_flows,
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

void incast_text(const Options& o, std::uint64_t seed, const IncastResult& r) {
  const IncastOptions& i = o.incast;
  fmt::print("seed {}: {} senders of {} bytes, {} Gb/s, queue {} bytes, MTU {}, {} TCP flows\n", seed,
             i.senders, i.length, o.gigabits, i.fabric.queue_bytes, i.fabric.config.mtu, i.tcp_flows);
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

int incast(Options& o) {
  o.incast.duration = ns(o.duration_ms, 1e6);
  o.incast.tcp_alone = ns(o.alone_ms, 1e6);
  o.incast.ping_every = ns(o.ping_us, 1e3);
  int status = 0;
  const std::uint64_t first = o.incast.fabric.seed;
  for (std::uint64_t seed = first; seed < first + o.seeds; seed++) {
    o.incast.fabric.seed = seed;
    const IncastResult r = incast_run(o.incast);
    (o.json ? incast_json : incast_text)(o, seed, r);
    if (r.failure.empty()) continue;
    fmt::print(stderr, "omx_fabric: seed {}: {}\n", seed, r.failure);
    status = 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs real engines beside modelled TCP flows on a simulated fabric with short queues.");
  app.require_subcommand(1);
  Options o;
  CLI::App& run_incast =
      *app.add_subcommand("incast", "many senders to one host, with TCP flows beside them");
  fabric_options(run_incast, o);
  incast_options(run_incast, o);
  CLI11_PARSE(app, argc, argv);
  FabricOptions& f = o.incast.fabric;
  if (o.poll_most_us < o.poll_least_us) {
    fmt::print(stderr, "omx_fabric: --poll-most must be at least --poll-least, which is {} us\n",
               o.poll_least_us);
    return 2;
  }
  f.bits_per_second = static_cast<std::uint64_t>(o.gigabits * 1e9);
  f.delay = ns(o.delay_us, 1e3);
  f.poll_least = ns(o.poll_least_us, 1e3);
  f.poll_most = ns(o.poll_most_us, 1e3);
  return incast(o);
}
