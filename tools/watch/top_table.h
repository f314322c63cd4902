// SPDX-License-Identifier: BSD-3-Clause
// Computes and prints what omx top shows: rates between two readings of the endpoints of this host.
#pragma once

#include <string>
#include <vector>

#include "tools/info/view_facts.h"

namespace omx::tools {

// Returns two tables, endpoints and at most `most` of their peers, the busiest first. An endpoint that is not
// in `before` has no rates yet.
std::string top_text(const std::vector<EndpointView>& now, const std::vector<EndpointView>& before,
                     runtime::PeerTable& names, std::size_t most);

}  // namespace omx::tools
