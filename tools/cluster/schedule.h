// SPDX-License-Identifier: BSD-3-Clause
// Which hosts measure with which, in rounds whose pairs share no host.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace omx::tools {

using Round = std::vector<std::pair<std::size_t, std::size_t>>;

// Returns rounds in which each host meets `partners` others, or all others if that is 0 or more than there
// are. With an odd number of hosts one host rests in each round, so some meet one partner less.
std::vector<Round> schedule_rounds(std::size_t hosts, std::size_t partners);

}  // namespace omx::tools
