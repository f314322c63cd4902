// SPDX-License-Identifier: BSD-3-Clause
// How omx dump shows endpoints.
#pragma once

#include <string>
#include <vector>

#include "tools/info/view_facts.h"

namespace omx::tools {

std::string dump_text(const std::vector<EndpointView>& views, runtime::PeerTable& names, unsigned events);
std::string dump_json(const std::vector<EndpointView>& views, runtime::PeerTable& names, unsigned events);

}  // namespace omx::tools
