// SPDX-License-Identifier: BSD-3-Clause
// What `omx check` and `omx tune` look at, and what they find there.
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

// The interfaces that are named, or all boards, and then with the host.
Result<TuningReport> tuning_report_find(const tuning::Machine& machine,
                                        const std::vector<std::string>& names);

// Of all findings: how many could be better, and how many of these `omx tune` improves.
struct TuningCount {
  unsigned better = 0;
  unsigned tunable = 0;
};
TuningCount tuning_count(const TuningReport& report);

}  // namespace omx::tools
