// SPDX-License-Identifier: BSD-3-Clause
// Which way a message of each size goes, and why: `omx info --protocols`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "copy/calibration.h"
#include "tools/info/info_print.h"

namespace omx::tools {

struct Way {
  std::uint64_t bytes = 0;
  std::string way;   // to an Open-MX peer over the cable
  std::string copy;  // who puts it into its place there
  std::string why;
};

struct ProtocolFacts {
  std::optional<copy::Calibration> calibration;  // of the engine that the settings ask for; "cpu" otherwise
  std::string engine;                            // its name
  std::string engine_problem;                    // why there is none
};

// Measures, which takes some 20 ms.
ProtocolFacts protocol_facts_find(const runtime::Settings& settings);
std::vector<Way> ways_of(const BoardInfo& board, const runtime::Settings& settings,
                         const ProtocolFacts& facts);

std::string protocols_text(const InfoReport& report, const ProtocolFacts& facts);
std::string protocols_json(const InfoReport& report, const ProtocolFacts& facts);

}  // namespace omx::tools
