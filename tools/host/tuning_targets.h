// SPDX-License-Identifier: BSD-3-Clause
// Finds what `omx check` and `omx tune` examine, and judges it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuning/finding.h"

namespace omx::tools {

struct TuningTarget {
  link::Interface interface;
  std::vector<tuning::Finding> findings;
};

struct TuningReport {
  std::vector<tuning::Finding> host;  // empty when not asked for
  std::vector<TuningTarget> interfaces;
};

// Examines the named interfaces, or all boards and the host.
Result<TuningReport> tuning_report_find(const tuning::Machine& machine,
                                        const std::vector<std::string>& names);

// How many of all findings could be better, and how many of these `omx tune` improves.
struct TuningCount {
  unsigned better = 0;
  unsigned tunable = 0;
};
TuningCount tuning_count(const TuningReport& report);

}  // namespace omx::tools
