// SPDX-License-Identifier: BSD-3-Clause
// Results of large simulated networks:
//   omx_scale incast --hosts 65 --length 1M --mtu 9000
//   omx_scale all-to-all --hosts 1000 --length 16
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "simulation/engine/scale.h"

int main(int argc, char** argv) {
  using namespace omx::simulation;
  CLI::App app("Runs the real engine on many simulated hosts at once.");
  ScaleOptions o;
  std::string shape;
  double gigabits = static_cast<double>(o.bits_per_second) / 1e9;
  app.add_option("shape", shape, "incast (all hosts send to the first one) or all-to-all")->required();
  app.add_option("--hosts", o.hosts, "number of hosts")->capture_default_str()->check(CLI::Range(2, 100000));
  app.add_option("--length", o.length, "length of a message, bytes")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--messages", o.messages, "messages from each sender to each of its receivers")
      ->capture_default_str();
  app.add_option("--mtu", o.mtu, "MTU of all cables")->capture_default_str();
  app.add_option("--rate", gigabits, "rate of all cables, Gb/s")->capture_default_str();
  app.add_option("--queue", o.queue_bytes, "queue of a switch port, bytes")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto known = scale_shape(shape);
  if (!known) {
    fmt::print(stderr, "omx_scale: \"{}\" is no shape; there are incast and all-to-all\n", shape);
    return 2;
  }
  o.shape = *known;
  o.bits_per_second = static_cast<std::uint64_t>(gigabits * 1e9);
  const ScaleResult r = scale_run(o);
  if (!r.failure.empty()) {
    fmt::print("FAILED: {}\n", r.failure);
    return 1;
  }
  const auto ms = [](omx::simulation::TimeNs time) { return static_cast<double>(time) / 1e6; };
  fmt::print("{} messages of {} bytes, {} hosts, MTU {}, {} Gb/s, ports of {} bytes\n", r.messages, o.length,
             o.hosts, o.mtu, gigabits, o.queue_bytes);
  fmt::print("connected after     {:10.3f} ms\n", ms(r.connecting));
  fmt::print("done after          {:10.3f} ms; the first sender after {:.3f}, the last after {:.3f}\n",
             ms(r.time), ms(r.first_done), ms(r.last_done));
  fmt::print("share of the port   {:10.1f} %\n", r.port_share * 100);
  fmt::print("data frames         {:10} sent, {} needed: {:.2f} % sent again\n", r.data_frames,
             r.frames_needed, r.resent_share() * 100);
  fmt::print("all frames          {:10} sent, {:.2f} per message; {} dropped by switch ports\n", r.frames,
             static_cast<double>(r.frames) / static_cast<double>(r.messages), r.dropped);
  fmt::print("fullest port        {:10} bytes\n", r.deepest);
  fmt::print("memory per peer  {:10} bytes\n", r.memory_per_peer);
  fmt::print("processor           {:10.0f} ns per message, all hosts and the simulation\n",
             r.cpu_per_message);
  return 0;
}
