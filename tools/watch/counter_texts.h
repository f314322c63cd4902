// SPDX-License-Identifier: BSD-3-Clause
// The counters of an endpoint by their labels, and what each of them means.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/endpoint/counters_shared.h"

namespace omx::tools {

using CounterValue = std::pair<const char*, std::uint64_t>;
// All of them, in the order in which they are shown.
std::vector<CounterValue> counter_values(const runtime::SharedCounters& counters);

struct CounterText {
  std::string_view label, unit, meaning;
};
// nullptr: no such label. tests/tools sees to it that every counter has one.
const CounterText* counter_text(std::string_view label);
// How many texts there are.
std::size_t counter_text_count();

}  // namespace omx::tools
