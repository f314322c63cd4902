// SPDX-License-Identifier: BSD-3-Clause
// Makes the changes of findings, and takes them back.
#pragma once

#include <functional>
#include <string_view>

#include "tuning/finding.h"
#include "tuning/ledger.h"

namespace omx::tuning {

// Called with a sentence after each step.
using Report = std::function<void(std::string_view)>;

struct Applied {
  unsigned changed = 0;
  unsigned refused = 0;  // by the driver or the kernel, which was reported
};

// Changes what the findings of an interface (nullptr: of the host) name, each value after it was saved. A
// failure is one of the ledger: nothing more is changed then.
Result<Applied> tune_apply(const Machine& machine, Ledger& ledger, const link::Interface* interface,
                           const std::vector<Finding>& findings, const Report& report);

struct Undone {
  unsigned restored = 0;
  unsigned gone = 0;    // nothing is there any more that could have the value
  unsigned failed = 0;  // still in the ledger
};

// Gives everything in the ledger, or what is chosen of it, its former value, the last change first.
using Chosen = std::function<bool(const Saved&)>;
Result<Undone> tune_undo(const Machine& machine, Ledger& ledger, const Report& report,
                         const Chosen& chosen = {});

}  // namespace omx::tuning
