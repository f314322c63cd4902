// SPDX-License-Identifier: BSD-3-Clause
// Which processor the frames of each endpoint are handed to.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace omx::steering {

inline constexpr std::size_t kSteerEndpoints = 256;
// Index: endpoint. Value: number of a processor.
using SteerTable = std::array<std::uint32_t, kSteerEndpoints>;

// Endpoint e goes to the processor at place e modulo their number in `cpus` ("0,2-5"; empty: all of
// `online`), except where `map` says otherwise ("0:1,4-7:0"; empty: nowhere). Fails with one sentence when
// either text is malformed, or names an endpoint or processor that there is not, or `map` one endpoint with
// two processors.
Result<SteerTable> steer_table_make(std::string_view cpus, std::string_view map,
                                    const std::vector<int>& online);

// For people: "modulo 2 on processors 0,1, but 5 on 0". Tables that no short rule makes are listed.
std::string steer_table_text(const SteerTable& table);

}  // namespace omx::steering
