// SPDX-License-Identifier: BSD-3-Clause
#include "local/threshold.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "base/log.h"

namespace omx::local {

namespace {

constexpr std::uint32_t kBytes = 32 * 1024;
constexpr int kTries = 6;  // the best one counts, because others may have been interrupted
constexpr double kEagerCopies = 3;
// The cost of the message that announces memory, and of the one that gives it back.
constexpr double kAnnounceNs = 1000;

template <class Action>
double best_ns(Action action) {
  double best = 1e9;
  for (int i = 0; i < kTries; i++) {
    const auto before = std::chrono::steady_clock::now();
    action();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - before;
    best = std::min(best, took.count());
  }
  return best;
}

std::uint32_t measure() {
  const std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[2 * kBytes]);
  if (!memory) return kThresholdMost;
  std::memset(memory.get(), 1, 2 * kBytes);
  std::byte* const from = memory.get();
  std::byte* const to = from + kBytes;
  bool works = true;
  const auto read = [&](std::size_t bytes) {
    const iovec here{to, bytes}, there{from, bytes};
    works &= ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
  };
  CopyCosts costs;
  costs.bytes = kBytes;
  costs.copy_ns = best_ns([&] {
    std::memcpy(to, from, kBytes);
    asm volatile("" : : "r"(to) : "memory");
  });
  costs.read_ns = best_ns([&] { read(kBytes); });
  costs.call_ns = best_ns([&] { read(8); });
  const std::uint32_t threshold = works ? threshold_from(costs) : kThresholdMost;
  log(LogLevel::info,
      "inside this host one copy is cheaper for messages of more than {} bytes (32 KiB: {:.0f} ns copied, "
      "{:.0f} ns "
      "read from another process, of which {:.0f} ns for the call)",
      threshold, costs.copy_ns, costs.read_ns, costs.call_ns);
  return threshold;
}

}  // namespace

std::uint32_t threshold_from(const CopyCosts& costs) {
  const double per_byte =
      (kEagerCopies * costs.copy_ns - std::max(costs.read_ns - costs.call_ns, 0.0)) / costs.bytes;
  if (per_byte <= 0) return kThresholdMost;
  const double bytes = (costs.call_ns + kAnnounceNs) / per_byte;
  if (bytes >= kThresholdMost) return kThresholdMost;
  return std::max(static_cast<std::uint32_t>(bytes) / 4096 * 4096, kThresholdLeast);
}

std::uint32_t threshold_of_this_machine() {
  static const std::uint32_t threshold = measure();
  return threshold;
}

}  // namespace omx::local
