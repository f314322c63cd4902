// SPDX-License-Identifier: BSD-3-Clause
// Lists of processors as Linux writes them: "0,2-5".
#pragma once

#include <string_view>
#include <vector>

namespace omx {

// Empty when it is none, or names a processor that a cpu_set_t cannot hold.
std::vector<int> cpu_list_parse(std::string_view text);
// Those that are switched off, or that this process may not use, included.
int cpus_of_this_host();

}  // namespace omx
