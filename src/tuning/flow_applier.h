// SPDX-License-Identifier: BSD-3-Clause
// Changes the flow rules of one NIC to those that are wanted. The ledger knows which rules are ours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "tuning/tuner.h"

namespace omx::tuning {

struct FlowsApplied {
  unsigned added = 0;
  unsigned kept = 0;     // ours from before
  unsigned removed = 0;  // ours that differ from what is wanted now
  unsigned others = 0;   // wanted rules that exist already and are not ours
};

class FlowApplier {
 public:
  // All arguments but `table` must outlive the object.
  FlowApplier(const Machine& machine, Ledger& ledger, const link::Interface& interface, FlowTable table);
  // Returns for how many endpoints the table has room.
  Result<std::uint32_t> fit(const std::vector<FlowRule>& wanted, std::uint32_t each);
  Result<FlowsApplied> run(const std::vector<FlowRule>& wanted, std::uint32_t each);

 private:
  std::optional<FlowRule> rule_of(const Saved& saved) const;
  bool is_ours(const FlowPlace& at) const;
  bool kept(const FlowRule& rule) const;
  // Compares the table with `wanted`: fills kept_ and missing_.
  Result<void> look(const std::vector<FlowRule>& wanted);
  std::size_t room() const { return table_.places - std::min<std::size_t>(table_.places, taken_.size()); }
  bool enough() const { return missing_.size() <= room() || (table_.nic_chooses && table_.places == 0); }
  std::uint32_t fitting(std::uint32_t each) const;
  Result<void> room_check(std::uint32_t each) const;
  // Returns whether the driver takes such rules at all. Leaves no rule behind.
  Result<void> trial();
  // Removes our rules that `which` selects.
  Result<void> drop(const std::function<bool(const FlowRule&)>& which);
  Result<void> add(FlowRule& rule);
  // Fails for a rule that the NIC does not show as it was given. It could not be told from others' rules
  // later.
  Result<void> unseen(const FlowRule& rule);
  Result<FlowsApplied> given_up(const Failure& why);

  const Machine& machine_;
  Ledger& ledger_;
  const link::Interface& interface_;
  const FlowTable table_;
  std::vector<FlowRule> ours_;      // in the ledger, whether they exist or not
  std::vector<FlowRule> kept_;      // ours that stay
  std::vector<FlowRule> missing_;   // wanted rules that do not exist
  std::set<std::uint32_t> taken_;   // occupied places, without our rules that go
  std::uint32_t next_ = kAnyPlace;  // where the search for a free place goes on
  FlowsApplied applied_;
};

}  // namespace omx::tuning
