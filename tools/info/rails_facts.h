// SPDX-License-Identifier: BSD-3-Clause
// Which boards the endpoints of a board use beside it (docs/rails.md), as far as the settings decide.
#pragma once

#include <string>
#include <vector>

#include "tools/info/host_facts.h"

namespace omx::tools {

struct RailFact {
  std::string interface;
  bool used = false;
  std::string note;  // why not, or what is to be known; may be empty
};

struct RailsFacts {
  std::string wanted;   // OMX_RAILS; empty: each endpoint uses one board
  std::string problem;  // endpoints cannot be opened so; empty: they can
  std::vector<RailFact> rails;
};

RailsFacts rails_facts_find(const HostFacts& host, const runtime::Board& board);
// A line or several, as omx info shows them.
std::string rails_text(const RailsFacts& facts);

}  // namespace omx::tools
