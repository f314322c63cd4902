// SPDX-License-Identifier: BSD-3-Clause
// Changes the flow rules of one NIC so that it has those that are wanted. Which are ours the ledger knows.
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
  unsigned kept = 0;     // of ours, from before
  unsigned removed = 0;  // of ours, which do other than what is wanted now
  unsigned others = 0;   // are there already, and not ours
};

class FlowApplier {
 public:
  // All but `table` must outlive it.
  FlowApplier(const Machine& machine, Ledger& ledger, const link::Interface& interface, FlowTable table);
  // How many endpoints have room.
  Result<std::uint32_t> fit(const std::vector<FlowRule>& wanted, std::uint32_t each);
  Result<FlowsApplied> run(const std::vector<FlowRule>& wanted, std::uint32_t each);

 private:
  std::optional<FlowRule> rule_of(const Saved& saved) const;
  bool is_ours(const FlowPlace& at) const;
  bool kept(const FlowRule& rule) const;
  // What is there already, and what is not.
  Result<void> look(const std::vector<FlowRule>& wanted);
  std::size_t room() const { return table_.places - std::min<std::size_t>(table_.places, taken_.size()); }
  bool enough() const { return missing_.size() <= room() || (table_.nic_chooses && table_.places == 0); }
  std::uint32_t fitting(std::uint32_t each) const;
  Result<void> room_check(std::uint32_t each) const;
  // Whether the driver takes such rules at all. Leaves none behind.
  Result<void> trial();
  // Of ours.
  Result<void> drop(const std::function<bool(const FlowRule&)>& which);
  Result<void> add(FlowRule& rule);
  // What is not shown as it was given cannot be told from others' rules later.
  Result<void> unseen(const FlowRule& rule);
  Result<FlowsApplied> given_up(const Failure& why);

  const Machine& machine_;
  Ledger& ledger_;
  const link::Interface& interface_;
  const FlowTable table_;
  std::vector<FlowRule> ours_;      // as the ledger has them, there or not
  std::vector<FlowRule> kept_;      // of ours
  std::vector<FlowRule> missing_;   // of those that are wanted
  std::set<std::uint32_t> taken_;   // places, but for those of ours that go
  std::uint32_t next_ = kAnyPlace;  // where to look for a place
  FlowsApplied applied_;
};

}  // namespace omx::tuning
