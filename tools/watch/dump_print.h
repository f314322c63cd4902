// SPDX-License-Identifier: BSD-3-Clause
// Prints endpoints for omx dump, as text or JSON.
#pragma once

#include <string>
#include <vector>

#include "tools/info/view_facts.h"

namespace omx::tools {

std::string dump_text(const std::vector<EndpointView>& views, runtime::PeerTable& names, unsigned events);
std::string dump_json(const std::vector<EndpointView>& views, runtime::PeerTable& names, unsigned events);

}  // namespace omx::tools
