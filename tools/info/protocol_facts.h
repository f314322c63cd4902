// SPDX-License-Identifier: BSD-3-Clause
// Finds how a message of each size travels, and why, for `omx info --protocols`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "copy/calibration.h"
#include "runtime/endpoint/copies.h"
#include "tools/info/info_print.h"

namespace omx::tools {

struct Way {
  std::uint64_t bytes = 0;
  std::string way;   // how it travels to an Open-MX peer on another host
  std::string copy;  // what copies the data into the receiver's buffer
  std::string why;
};

struct ProtocolFacts {
  std::optional<copy::Calibration>
      calibration;             // of the engine that the settings name, or of "cpu" if that one is missing
  std::string engine;          // its name
  runtime::CacheFacts caches;  // of it
  std::string engine_problem;  // why the engine of the settings is missing
};

// Measures the copy engine, which takes about 20 ms.
ProtocolFacts protocol_facts_find(const runtime::Settings& settings);
std::vector<Way> ways_of(const BoardInfo& board, const runtime::Settings& settings,
                         const ProtocolFacts& facts);

std::string protocols_text(const InfoReport& report, const ProtocolFacts& facts);
std::string protocols_json(const InfoReport& report, const ProtocolFacts& facts);

}  // namespace omx::tools
