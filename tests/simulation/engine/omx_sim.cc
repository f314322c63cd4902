// SPDX-License-Identifier: BSD-3-Clause
// Runs workloads in the simulated network, any number of seeds, or one with a trace.
//   omx_sim --seeds 2000                      seeds 1 to 2000 of the workload random-mix
//   omx_sim --workload congestion --seeds 2000     with slow ports that others use, too
//   omx_sim --workload churn --seeds 2000     with endpoints that crash and restart
//   omx_sim --workload stalls --seeds 2000    with hosts that stop and cables that are cut
//   omx_sim --seed 17 --trace                 one run, with what happened on stderr
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/experiments/arguments.h"
#include "simulation/engine/churn.h"
#include "simulation/engine/random_mix.h"
#include "simulation/engine/stalls.h"

namespace {

using namespace omx::simulation;
using omx::bench::whole_number;

constexpr std::uint64_t kMostRuns = 1'000'000'000, kMostFirst = 1'000'000'000'000'000'000;

struct Arguments {
  std::string workload = "random-mix";
  std::uint64_t seed = 0, seeds = 0, first = 1;
  std::uint32_t operations = RunOptions{}.operations;
  std::uint32_t jobs = std::max(1U, std::thread::hardware_concurrency());
  bool trace = false;
};

// Returns the workload that a name stands for, which may be one that earlier versions used.
std::string workload_of(const std::string& name) {
  if (name == "mixed") return "random-mix";
  return name == "deaths" || name == "restless" ? "churn" : name;
}

// Returns the command that repeats a run.
std::string replay(const char* program, const Arguments& a, std::uint64_t seed) {
  return fmt::format("{} --workload {} --seed {} --operations {} --trace", program, a.workload, seed,
                     a.operations);
}

RunResult run(const Arguments& a, std::uint64_t seed, bool trace) {
  RunOptions options;
  options.seed = seed;
  options.operations = a.operations;
  options.trace = trace ? stderr : nullptr;
  if (a.workload == "congestion") return congestion_run(options);
  if (a.workload == "stalls") return stalls_run(options);
  return a.workload == "churn" ? churn_run(options) : random_mix_run(options);
}

int run_one(const Arguments& a) {
  const RunResult r = run(a, a.seed, a.trace);
  fmt::print(
      "seed {}: {} messages, {} bytes, {} frames ({} lost), {:.3f} s of virtual time, digest {:016x}: {}\n",
      a.seed, r.messages, r.bytes, r.frames, r.lost, static_cast<double>(r.time) / 1e9, r.digest,
      r.ok() ? "ok" : r.failure);
  return r.ok() ? 0 : 1;
}

// Runs several seeds at a time, as they have nothing in common.
int run_many(const char* program, const Arguments& a) {
  std::atomic<std::uint64_t> next = a.first, failed = 0, messages = 0, frames = 0;
  std::mutex output;
  const auto work = [&] {
    for (std::uint64_t seed; (seed = next++) < a.first + a.seeds;) {
      const RunResult r = run(a, seed, false);
      messages += r.messages;
      frames += r.frames;
      if (r.ok()) continue;
      failed++;
      const std::lock_guard lock(output);
      fmt::print("seed {} failed: {}\n  repeat with: {}\n", seed, r.failure, replay(program, a, seed));
      std::fflush(stdout);
    }
  };
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  for (std::uint32_t i = 1; i < a.jobs; i++) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{} runs, {} failed, {} messages, {} frames, {:.1f} s\n", a.seeds, failed.load(),
             messages.load(), frames.load(), took.count());
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs the real engine in a simulated network; the same seed gives the same run.", "omx_sim");
  Arguments a;
  app.add_option(
         "--workload", a.workload,
         "random-mix: no endpoint crashes; congestion: random-mix with slow ports that others use, too; "
         "churn: crashes, pauses, partitions; stalls: silences around the time-out")
      ->check(CLI::IsMember({"random-mix", "congestion", "churn", "stalls", "mixed", "deaths", "restless"}))
      ->capture_default_str();
  CLI::Option* seed =
      app.add_option("--seed", a.seed, "one run with this seed")->check(whole_number(1, UINT64_MAX));
  CLI::Option* seeds = app.add_option("--seeds", a.seeds, "number of runs, with consecutive seeds")
                           ->check(whole_number(1, kMostRuns))
                           ->excludes(seed);
  app.add_option("--first", a.first, "first seed of --seeds")
      ->check(whole_number(1, kMostFirst))
      ->needs(seeds)
      ->capture_default_str();
  app.add_option("--operations", a.operations, "operations of the application in each run")
      ->check(whole_number(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--jobs", a.jobs, "runs at a time")->check(whole_number(1, 4096))->capture_default_str();
  app.add_flag("--trace", a.trace, "prints all events on stderr (with --seed)")->needs(seed);
  if (const auto status = omx::bench::parse_arguments(app, argc, argv)) return *status;
  a.workload = workload_of(a.workload);
  if (a.seed == 0 && a.seeds == 0) {
    fmt::print(stderr, "omx_sim: give --seed N or --seeds N\n");
    return omx::bench::kUsage;
  }
  // There are many large receives. Their memory must not go to the kernel and back each time.
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  return a.seed != 0 ? run_one(a) : run_many(argv[0], a);
}
