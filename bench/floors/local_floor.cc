// SPDX-License-Identifier: BSD-3-Clause
// omx_local_floor: measures what two processes of one host reach without Open-MX. A flag in shared memory
// goes back and forth. For sizes above 0, each end that sees the flag first reads the other's buffer with
// process_vm_readv. As in omx perf, each process sends from one buffer, receives into another, and touches
// neither otherwise.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "bench/floors/floor_report.h"

namespace {

using omx::bench::Clock;
using omx::bench::die;

constexpr int kUnable = 77;

// Each flag has its own cache lines, so that the ends do not disturb each other.
struct Shared {
  alignas(128) std::atomic<std::uint64_t> ping{0};
  alignas(128) std::atomic<std::uint64_t> pong{0};
  alignas(128) std::atomic<bool> failed{false};
};

struct End {
  Shared* shared;
  pid_t peer;
  // At the same addresses in both processes, because one is a fork of the other.
  std::byte* out;
  std::byte* in;

  void take(std::size_t size) const {
    if (size == 0) return;
    const iovec here{in, size}, there{out, size};
    const ssize_t got = ::process_vm_readv(peer, &here, 1, &there, 1, 0);
    if (got == static_cast<ssize_t>(size)) return;
    shared->failed.store(true, std::memory_order_relaxed);
    die(kUnable, "process_vm_readv: {}", got < 0 ? std::strerror(errno) : "read less than the size");
  }
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void wait_for(const Shared& shared, const std::atomic<std::uint64_t>& flag, std::uint64_t value) {
  while (flag.load(std::memory_order_acquire) != value) {
    if (shared.failed.load(std::memory_order_relaxed))
      std::exit(kUnable);  // the other end has printed the reason
    relax();
  }
}

[[noreturn]] void answer(const End& end, const omx::bench::Options& options, int rounds) {
  std::uint64_t number = 0;
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (const std::size_t size : options.sizes) {
      for (int i = 0; i < rounds; i++) {
        wait_for(*end.shared, end.shared->ping, ++number);
        end.take(size);
        end.shared->pong.store(number, std::memory_order_release);
      }
    }
  }
  for (;;) ::pause();  // the other process still reads this memory
}

void ask(const End& end, const omx::bench::Options& options) {
  omx::bench::Report report("readv", options);
  for (const std::size_t size : options.sizes)
    report.reserve(size,
                   static_cast<std::size_t>(options.repeats) * static_cast<std::size_t>(options.iterations));
  std::uint64_t number = 0;
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (const std::size_t size : options.sizes) {
      for (int i = -options.warm_up; i < options.iterations; i++) {
        const Clock::time_point before = Clock::now();
        end.shared->ping.store(++number, std::memory_order_release);
        wait_for(*end.shared, end.shared->pong, number);
        end.take(size);
        if (i >= 0) report.latency(size, omx::bench::seconds_between(before, Clock::now()) * 1e6 / 2);
      }
    }
  }
  report.print_latency();
}

std::byte* memory(std::size_t bytes, int flags) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) die(1, "no memory: {}", std::strerror(errno));
  return static_cast<std::byte*>(at);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Ping-pong of two processes by a flag and process_vm_readv");
  omx::bench::Options options;
  options.sizes = {0, 4096, 65536, 1 << 20, 4 << 20};
  int peer_cpu = -1;
  omx::bench::add_client_options(app, options);
  app.add_option("--peer-cpu", peer_cpu, "core of the other process (default: not bound)");
  CLI11_PARSE(app, argc, argv);

  std::size_t largest = 1;
  for (const std::size_t size : options.sizes) largest = std::max(largest, size);
  auto* shared = new (memory(sizeof(Shared), MAP_SHARED)) Shared;
  End end{shared, ::getpid(), memory(largest, MAP_PRIVATE), memory(largest, MAP_PRIVATE)};
  std::memset(end.out, 1, largest);
  std::memset(end.in, 2, largest);
  const pid_t child = ::fork();
  if (child < 0) die(1, "fork: {}", std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    omx::bench::pin(peer_cpu);
    std::memset(end.out, 3, largest);  // gives this process its own pages
    std::memset(end.in, 4, largest);
    answer(end, options, options.warm_up + options.iterations);
  }
  std::memset(end.out, 1, largest);
  omx::bench::pin(options.cpu);
  end.peer = child;
  ask(end, options);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return 0;
}
