// SPDX-License-Identifier: BSD-3-Clause
// The processor that handles the frames of each endpoint.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace omx::steering {

inline constexpr std::size_t kSteerEndpoints = 256;
// The index is an endpoint, the value the number of a processor.
using SteerTable = std::array<std::uint32_t, kSteerEndpoints>;

// Makes a table. Endpoint e goes to the processor at place e modulo their number in `cpus` ("0,2-5"; empty:
// all of `online`). `map` ("0:1,4-7:0") lists exceptions. Fails with one sentence if a text is malformed or
// names an unknown endpoint or processor. Also fails if `map` gives one endpoint two processors.
Result<SteerTable> steer_table_make(std::string_view cpus, std::string_view map,
                                    const std::vector<int>& online);

// Returns a text for people: "modulo 2 on processors 0,1, but 5 on 0". A table that no short rule describes
// is listed.
std::string steer_table_text(const SteerTable& table);

}  // namespace omx::steering
