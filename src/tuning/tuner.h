// SPDX-License-Identifier: BSD-3-Clause
// Applies the changes of findings, and undoes them.
#pragma once

#include <functional>
#include <string_view>

#include "tuning/finding.h"
#include "tuning/ledger.h"

namespace omx::tuning {

// Receives a sentence after each step.
using Report = std::function<void(std::string_view)>;

struct Applied {
  unsigned changed = 0;
  unsigned refused = 0;  // by the driver or the kernel; reported
};

// Makes the changes of an interface's findings (nullptr: the host's). Each value is saved before it changes.
// Fails only if the ledger fails, and then changes nothing more.
Result<Applied> tune_apply(const Machine& machine, Ledger& ledger, const link::Interface* interface,
                           const std::vector<Finding>& findings, const Report& report);

struct Undone {
  unsigned restored = 0;
  unsigned gone = 0;    // the setting does not exist any more
  unsigned failed = 0;  // values that stay in the ledger
};

// Restores all values of the ledger, or those that `chosen` selects, the last change first.
using Chosen = std::function<bool(const Saved&)>;
Result<Undone> tune_undo(const Machine& machine, Ledger& ledger, const Report& report,
                         const Chosen& chosen = {});

}  // namespace omx::tuning
