// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/burst.h"

namespace omx::runtime {

namespace {
constexpr unsigned kBurst = 4;
// A program that pauses longer between two messages gains nothing.
constexpr TimeNs kBurstPauseNs = 20'000;
}  // namespace

bool Burst::goes_on(std::uint64_t to) {
  if (to != to_) end();
  to_ = to;
  if (core_.now > last_ + kBurstPauseNs) sends_ = 0;
  last_ = core_.now;
  return ++sends_ > kBurst;
}

}  // namespace omx::runtime
