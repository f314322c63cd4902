// SPDX-License-Identifier: BSD-3-Clause
// What omx top shows: rates between two looks at the endpoints of a host.
#pragma once

#include <string>
#include <vector>

#include "tools/info/view_facts.h"

namespace omx::tools {

// Two tables, endpoints and their peers, the busiest first; `most` peers. An endpoint that `before` does not
// have begins at its next look.
std::string top_text(const std::vector<EndpointView>& now, const std::vector<EndpointView>& before,
                     runtime::PeerTable& names, std::size_t most);

}  // namespace omx::tools
