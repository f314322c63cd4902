// SPDX-License-Identifier: BSD-3-Clause
#include "copy/policy.h"

#include "base/clock.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace omx::copy {

namespace {

constexpr std::uint32_t kOutstandingMost = 32;  // one process must not fill a shared queue
constexpr std::size_t kLine = 64;

constexpr std::uint32_t kSizes[] = {1024, 4096, 16384};
constexpr TimeNs kTimeOfSize = 800'000;  // twice per size: 5 ms together

std::size_t share_of(const Policy& policy, const Piece& piece) {
  if (policy.cpu_share == 0) return 0;
  const std::size_t bytes = piece.bytes / policy.cpu_share;
  const std::size_t beyond = (reinterpret_cast<std::uintptr_t>(piece.destination) + bytes) % kLine;
  return bytes > beyond ? bytes - beyond : 0;
}

// The median of what `action` takes; `after` is not counted.
template <class Action, class After>
TimeNs median_ns(Action action, After after) {
  std::vector<TimeNs> took;
  const TimeNs end = clock_now() + kTimeOfSize;
  do {
    const TimeNs before = clock_now();
    action();
    took.push_back(clock_now() - before);
    after();
  } while (clock_now() < end);
  const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  return *middle;
}

}  // namespace

std::uint32_t outstanding_most(std::uint32_t threshold, std::uint32_t processes) {
  const std::uint32_t share = threshold / std::max(processes, 1U);
  return std::clamp(share > 1 ? share - 1 : 1, 1U, kOutstandingMost);
}

bool copy_wait(CopyEngine& engine, const Policy& policy, const Piece& piece) {
  const std::size_t mine = share_of(policy, piece);
  Piece rest = piece;
  rest.source += mine;
  rest.destination += mine;
  rest.bytes -= mine;
  const Submission submission = engine.submit(rest);
  engine.poll(1);  // begins, where it is kept back
  if (mine) std::memcpy(piece.destination, piece.source, mine);
  if (submission.answer != Answer::accepted) {
    if (rest.bytes) std::memcpy(rest.destination, rest.source, rest.bytes);
    return true;
  }
  engine.drain(kNever);
  return !engine.failed(submission.ticket);
}

Calibration calibrate(CopyEngine& engine) {
  Calibration result;
  result.least_piece = ~0U;
  const std::size_t largest = *std::max_element(std::begin(kSizes), std::end(kSizes));
  const std::vector<std::byte> from(largest, std::byte{1});
  std::vector<std::byte> to(largest);
  for (std::size_t i = 0; i < std::size(kSizes); i++) {
    Calibration::Row& row = result.rows[i];
    row.bytes = kSizes[i];
    row.memcpy_ns = median_ns(
        [&] {
          std::memcpy(to.data(), from.data(), row.bytes);
          asm volatile("" : : "r"(to.data()) : "memory");
        },
        [] {});
    row.submit_ns = median_ns(
        [&] {
          engine.submit({from.data(), to.data(), row.bytes, true});
          engine.poll(1);
        },
        [&] { engine.drain(kNever); });
    if (engine.capabilities().asynchronous && row.submit_ns < row.memcpy_ns && result.least_piece == ~0U)
      result.least_piece = row.bytes;
  }
  return result;
}

}  // namespace omx::copy
