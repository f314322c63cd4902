// SPDX-License-Identifier: BSD-3-Clause
// Lists the counters of an endpoint by their labels, and explains each of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/endpoint/counters_shared.h"

namespace omx::tools {

using CounterValue = std::pair<const char*, std::uint64_t>;
// Returns all counters, in the order in which they are shown.
std::vector<CounterValue> counter_values(const runtime::SharedCounters& counters);

struct CounterText {
  std::string_view label, unit, meaning;
  const char* former = nullptr;  // the label that the counter had before
};
// Returns nullptr if there is no such label. A test in tests/tools checks that every counter has a text.
const CounterText* counter_text(std::string_view label);
// Returns how many texts there are.
std::size_t counter_text_count();

}  // namespace omx::tools
