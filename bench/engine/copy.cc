// SPDX-License-Identifier: BSD-3-Clause
// omx_copy_bench: measures the copy engines of this machine, as a figure of the papers does: copy throughput
// by the size of the pieces. For each size and engine it prints GB/s of a buffer that fits into a core's
// caches and of one that does not. It also prints what a piece costs the submitting thread: time that
// offloading does not save.
// offloading does not give back.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "base/clock.h"
#include "bench/floors/floor_report.h"
#include "copy/engines.h"

namespace {

using omx::kNever;
using omx::bench::Clock;
using omx::bench::seconds_between;
using omx::copy::Answer;
using omx::copy::CopyEngine;
using omx::copy::EngineKind;

struct Arena {
  const char* name;
  std::vector<std::byte> from, to;

  Arena(const char* title, std::size_t bytes)
      : name(title), from(bytes, std::byte{1}), to(bytes, std::byte{2}) {}
};

struct Samples {
  std::vector<double> cached_gbs, uncached_gbs, submit_ns;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr int kLooks = 500;  // about 20 us of polling

// Copies the whole arena again and again, with as many pieces outstanding as the engine accepts. Returns
// GB/s.
double throughput(CopyEngine& engine, Arena& arena, std::size_t piece, double seconds) {
  const Clock::time_point begin = Clock::now();
  Clock::time_point now = begin;
  std::size_t bytes = 0, at = 0;
  do {
    for (int i = 0; i < 64; i++, at = at + 2 * piece <= arena.from.size() ? at + piece : 0) {
      for (int looks = 0;
           engine.submit({arena.from.data() + at, arena.to.data() + at, piece, true}).answer == Answer::busy;
           looks++) {
        if (engine.poll(32) > 0) continue;
        omx::cpu_relax();
        // Another thread may need this processor, perhaps the engine's helper thread.
        if (looks > kLooks) engine.drain(omx::clock_now() + 100'000);
      }
      bytes += piece;
    }
    engine.poll(32);
    now = Clock::now();
  } while (seconds_between(begin, now) < seconds);
  engine.drain(kNever);
  return static_cast<double>(bytes) / seconds_between(begin, Clock::now()) / 1e9;
}

// Returns the nanoseconds for each piece in submit() and in the poll that starts deferred copies. Does not
// wait for the copies.
double submission(CopyEngine& engine, Arena& arena, std::size_t piece) {
  constexpr int kRounds = 200;
  const std::uint32_t count = std::min(engine.capabilities().most_outstanding, 16U);
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; round++) {
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < count; i++) {
      const std::size_t at = i * piece % (arena.from.size() - piece + 1);
      engine.submit({arena.from.data() + at, arena.to.data() + at, piece, true});
    }
    engine.poll(1);
    rounds.push_back(seconds_between(begin, Clock::now()) * 1e9 / count);
    engine.drain(kNever);
  }
  return median(std::move(rounds));
}

std::string gbs(const std::vector<double>& values) {
  return fmt::format("{:6.4g} ({:5.4g}..{:5.4g})", median(values),
                     *std::min_element(values.begin(), values.end()),
                     *std::max_element(values.begin(), values.end()));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Copy throughput by size of the pieces, for each copy engine that this machine has");
  std::vector<std::size_t> sizes = {256, 1024, 4096, 9000, 32768, 262144};
  int repeats = 5, cpu = -1;
  double seconds = 0.05;
  app.add_option("--sizes", sizes, "bytes of a piece")->delimiter(',')->check(CLI::Range(1, 1 << 20));
  app.add_option("--repeats", repeats, "repetitions of everything, interleaved")->check(CLI::Range(1, 1000));
  app.add_option("--seconds", seconds, "seconds of each measurement")->check(CLI::Range(0.001, 60.0));
  app.add_option("--cpu", cpu, "core of the thread that submits (default: not bound)");
  CLI11_PARSE(app, argc, argv);

  std::vector<std::pair<EngineKind, std::unique_ptr<CopyEngine>>> engines;
  for (const auto& fact : omx::copy::engine_list()) {
    fmt::print("{}: {}{}\n", omx::copy::engine_name(fact.kind),
               fact.available ? "" : "not available: ", fact.text);
    if (!fact.available) continue;
    auto engine = omx::copy::engine_create(fact.kind);
    if (!engine) omx::bench::die(1, "{}", engine.error().message);
    engines.emplace_back(fact.kind, std::move(*engine));
  }
  omx::bench::pin(cpu);  // the engine's helper thread stays unbound

  // One arena fits into half of a core's second-level cache, both buffers together. The other exceeds any
  // last-level cache.
  Arena cached("in cache", 256 * 1024), uncached("out of cache", 96UL << 20);
  std::map<std::pair<std::size_t, EngineKind>, Samples> samples;
  for (int repeat = 0; repeat < repeats; repeat++) {
    for (const std::size_t size : sizes) {
      for (auto& [kind, engine] : engines) {
        Samples& s = samples[{size, kind}];
        s.cached_gbs.push_back(
            throughput(*engine, size <= cached.from.size() ? cached : uncached, size, seconds));
        s.uncached_gbs.push_back(throughput(*engine, uncached, size, seconds));
        s.submit_ns.push_back(submission(*engine, uncached, size));
      }
    }
  }
  fmt::print("\nGB/s: median (min..max) of {} repeats of {} s\n{:>8}  {:>7}  {:>22}  {:>22}  {:>16}\n",
             repeats, seconds, "piece", "engine", cached.name, uncached.name, "submitting, ns");
  for (const std::size_t size : sizes) {
    for (const auto& [kind, engine] : engines) {
      const Samples& s = samples[{size, kind}];
      fmt::print("{:>8}  {:>7}  {:>22}  {:>22}  {:>16.0f}\n", size, omx::copy::engine_name(kind),
                 gbs(s.cached_gbs), gbs(s.uncached_gbs), median(s.submit_ns));
    }
  }
  return 0;
}
