// SPDX-License-Identifier: BSD-3-Clause
// Runs workloads in the simulated network, any number of seeds, or one with a trace.
//   omx_sim --seeds 2000             seeds 1 to 2000
//   omx_sim --seed 17 --trace        one run, with what happened on stderr
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "simulation/mixed.h"

namespace {

using namespace omx::simulation;

struct Arguments {
  std::uint64_t seed = 0, seeds = 0, first = 1;
  std::uint32_t operations = RunOptions{}.operations;
  bool trace = false;
};

// The command that repeats a run.
std::string replay(const char* program, const Arguments& a, std::uint64_t seed) {
  return fmt::format("{} --seed {} --operations {} --trace", program, seed, a.operations);
}

RunResult run(const Arguments& a, std::uint64_t seed, bool trace) {
  RunOptions options;
  options.seed = seed;
  options.operations = a.operations;
  options.trace = trace ? stderr : nullptr;
  return mixed_run(options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs the real engine in a simulated network; the same seed gives the same run.");
  Arguments a;
  app.add_option("--seed", a.seed, "one run with this seed");
  app.add_option("--seeds", a.seeds, "so many runs");
  app.add_option("--first", a.first, "first seed of --seeds")->capture_default_str();
  app.add_option("--operations", a.operations, "of the application in each run")->capture_default_str();
  app.add_flag("--trace", a.trace, "what happens, on stderr (with --seed)");
  CLI11_PARSE(app, argc, argv);
  if ((a.seed == 0) == (a.seeds == 0)) {
    fmt::print(stderr, "omx_sim: give either --seed N or --seeds N\n");
    return 2;
  }
  if (a.seed != 0) {
    const RunResult r = run(a, a.seed, a.trace);
    fmt::print(
        "seed {}: {} messages, {} bytes, {} frames ({} lost), {:.3f} s of virtual time, digest {:016x}: {}\n",
        a.seed, r.messages, r.bytes, r.frames, r.lost, static_cast<double>(r.time) / 1e9, r.digest,
        r.ok() ? "ok" : r.failure);
    return r.ok() ? 0 : 1;
  }
  std::uint64_t failed = 0, messages = 0, frames = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t seed = a.first; seed < a.first + a.seeds; seed++) {
    const RunResult r = run(a, seed, false);
    messages += r.messages;
    frames += r.frames;
    if (r.ok()) continue;
    failed++;
    fmt::print("seed {} failed: {}\n  repeat with: {}\n", seed, r.failure, replay(argv[0], a, seed));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{} runs, {} failed, {} messages, {} frames, {:.1f} s\n", a.seeds, failed, messages, frames,
             took.count());
  return failed == 0 ? 0 : 1;
}
