// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_group.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/perf/perf_pattern.h"

namespace omx::tools {

namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kMemoryMax = 16ULL << 30;
constexpr std::uint64_t kWindowMax = 65536;
constexpr std::uint64_t kGroupMask = kKindMask | 0xFFFFFFFF;

// Distinguishes the contents of messages by their sender, too.
std::uint64_t group_seed(std::uint64_t size, std::uint64_t number, std::uint64_t sender) {
  return pattern_seed(size, number | sender << 48, false);
}

}  // namespace

Result<bool> PerfGroup::member_add(MxPort& port, const PerfMember& member, std::uint32_t timeout_ms) {
  const bool known = member.pattern == static_cast<std::uint64_t>(PerfPattern::incast) ||
                     member.pattern == static_cast<std::uint64_t>(PerfPattern::all_pairs);
  if (!known || member.members < 2 || member.members > kMembersMost || member.receiver >= member.members)
    return false;
  if (member.rank == 0) {
    members_.clear();
    planned_ = member.members;
  }
  if (member.rank != members_.size() || member.members != planned_ || member.rank >= planned_) return false;
  port_ = &port;
  pattern_ = static_cast<PerfPattern>(member.pattern);
  group_ = static_cast<std::uint32_t>(member.group);
  own_rank_ = member.receiver;
  Member added{member.nic, member.endpoint, {}};
  if (group_sends(pattern_, own_rank_, member.rank)) {
    const auto address = port.connect(member.nic, static_cast<std::uint32_t>(member.endpoint), timeout_ms);
    if (!address) return tl::unexpected(address.error());
    added.address = *address;
  }
  members_.push_back(added);
  return true;
}

void PerfGroup::flow_add(std::uint64_t rank, bool receives, std::byte* data) {
  Flow& flow = flows_.emplace_back();
  flow.rank = rank;
  flow.receives = receives;
  flow.address = members_[rank].address;
  flow.slots.resize(std::min(step_.window, step_.count));
  for (Slot& slot : flow.slots) {
    slot.flow = &flow;
    slot.data = data;
    data += stride_;
  }
}

Result<bool> PerfGroup::prepare(const PerfStep& step) {
  if (members_.empty() || members_.size() != planned_ || step.size > 0xFFFFFFFF || !step.window ||
      step.window > kWindowMax || step.test != static_cast<std::uint64_t>(pattern_))
    return false;
  step_ = step;
  mismatch_.reset();
  flows_.clear();
  stride_ = (step.size + kGuardBytes + kLine - 1) / kLine * kLine;
  std::uint64_t senders = 0, receivers = 0;
  for (std::uint64_t rank = 0; rank < members_.size(); rank++) {
    senders += group_sends(pattern_, rank, own_rank_);
    receivers += group_sends(pattern_, own_rank_, rank);
  }
  // Messages whose contents are not checked may be sent from the same memory.
  const std::uint64_t flow_bytes = stride_ * std::min(step.window, std::max<std::uint64_t>(step.count, 1));
  const std::uint64_t sources = step.verify ? receivers : std::min<std::uint64_t>(receivers, 1);
  if (flow_bytes * std::max(senders, sources) > kMemoryMax) return false;
  if (!incoming_.reserve(flow_bytes * senders) || !outgoing_.reserve(flow_bytes * sources)) return false;

  std::uint64_t in = 0, out = 0;
  for (std::uint64_t rank = 0; rank < members_.size(); rank++) {
    if (group_sends(pattern_, rank, own_rank_)) flow_add(rank, true, incoming_.data() + flow_bytes * in++);
    if (group_sends(pattern_, own_rank_, rank))
      flow_add(rank, false, outgoing_.data() + (step.verify ? flow_bytes * out++ : 0));
  }
  for (Flow& flow : flows_) {
    for (Slot& slot : flow.slots) {
      if (!flow.receives) continue;
      if (auto r = post(slot); !r) return tl::unexpected(r.error());
    }
  }
  return true;
}

Result<void> PerfGroup::post(Slot& slot) {
  Flow& flow = *slot.flow;
  // MX matches in the order of posting, so the numbers of both ends agree.
  slot.number = flow.posted++;
  const std::uint64_t sender = flow.receives ? flow.rank : own_rank_;
  const std::uint64_t match = match_of(PerfKind::group_data, group_, sender);
  mx_return_t code = MX_SUCCESS;
  if (flow.receives) {
    if (step_.verify) guard_fill(slot.data + step_.size);
    code = port_->quick_receive(slot.data, step_.size, match, slot.request, &slot);
  } else {
    if (step_.verify) pattern_fill({slot.data, step_.size}, group_seed(step_.size, slot.number, sender));
    code =
        port_->quick_send(flow.address, slot.data, step_.size, match, step_.sync != 0, slot.request, &slot);
  }
  if (code != MX_SUCCESS) return MxPort::failure(code);
  return {};
}

void PerfGroup::check(const Slot& slot) {
  if (!step_.verify || mismatch_) return;
  const std::uint64_t seed = group_seed(step_.size, slot.number, slot.flow->rank);
  if (const auto wrong = pattern_check({slot.data, step_.size}, seed)) {
    mismatch_ = Mismatch{slot.number, *wrong};
  } else if (!guard_intact(slot.data + step_.size)) {
    mismatch_ = Mismatch{slot.number, step_.size};
  }
}

Result<void> PerfGroup::run() {
  for (Flow& flow : flows_) {
    for (Slot& slot : flow.slots) {
      if (flow.receives) continue;
      if (auto r = post(slot); !r) return r;
    }
  }
  const std::uint64_t match = match_of(PerfKind::group_data, group_);
  for (std::uint64_t missing = step_.count * flows_.size(); missing; missing--) {
    const auto status = port_->complete_any(match, kGroupMask);
    if (!status && status.error().mx_code == MX_TIMEOUT)
      return fail(MX_TIMEOUT, fmt::format("{}: {}", status.error().message, missing_text()));
    if (!status) return tl::unexpected(status.error());
    Slot& slot = *static_cast<Slot*>(status->context);
    Flow& flow = *slot.flow;
    flow.done++;
    if (flow.receives) {
      if (status->xfer_length != step_.size)
        return fail(MX_FAILURE, fmt::format("message {} of {} bytes arrived with {} bytes", slot.number,
                                            step_.size, status->xfer_length));
      check(slot);
    }
    if (flow.posted == step_.count) continue;
    if (auto r = post(slot); !r) return r;
  }
  return {};
}

// Says of the first flow that is not complete how far it came.
std::string PerfGroup::missing_text() const {
  const auto found = std::find_if(flows_.begin(), flows_.end(),
                                  [this](const Flow& flow) { return flow.done < step_.count; });
  if (found == flows_.end()) return "no message is missing";
  const Member& member = members_[found->rank];
  return fmt::format("{} of {} messages {} endpoint {} of {} are done; does its \"omx perf\" still run?",
                     found->done, step_.count, found->receives ? "from" : "to", member.endpoint,
                     nic_text(member.nic));
}

}  // namespace omx::tools
