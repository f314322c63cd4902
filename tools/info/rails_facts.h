// SPDX-License-Identifier: BSD-3-Clause
// Finds which other boards the endpoints of a board use (docs/explanation/rails.md), as far as the settings
// decide it.
#pragma once

#include <string>
#include <vector>

#include "tools/info/host_facts.h"

namespace omx::tools {

struct RailFact {
  std::string interface;
  bool used = false;
  std::string note;  // why the board is not used, or a remark; may be empty
};

struct RailsFacts {
  std::string wanted;   // OMX_RAILS; empty: each endpoint uses one board
  std::string problem;  // why no endpoint can be opened with these settings; empty: it can
  std::vector<RailFact> rails;
};

RailsFacts rails_facts_find(const HostFacts& host, const runtime::Board& board);
// Returns the lines for `omx info`.
std::string rails_text(const RailsFacts& facts);

}  // namespace omx::tools
