// SPDX-License-Identifier: BSD-3-Clause
// What the two halves of omx_lone_message share: the MX API and libfabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace omx::bench {

struct LoneOptions {
  int rounds = 1000;
  std::size_t bytes = 0;
  std::vector<std::string> interfaces{"o0", "o1"};
  std::string api = "mx";
};

// Written at the beginning of each round, so that a trace of memory accesses shows where rounds begin.
extern volatile std::uint64_t lone_mark;

[[noreturn]] void lone_failed(const char* what, const char* why);

// The receive is posted before the message is sent, as a program does that knows what comes.
template <class Side>
void one_way(Side& from, Side& to) {
  to.post();
  from.send();
  while (!to.received()) from.look();
  while (!from.sent()) to.look();
}

template <class Side>
void exchange(Side& a, Side& b, int rounds) {
  for (int round = 0; round < rounds; round++) {
    lone_mark = static_cast<std::uint64_t>(round);
    one_way(a, b);
    one_way(b, a);
  }
}

void lone_mx(const LoneOptions& options);
void lone_fabric(const LoneOptions& options);

}  // namespace omx::bench
