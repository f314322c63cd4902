// SPDX-License-Identifier: BSD-3-Clause
// A member's part in a group's step: incast (all send to the leader) or all-pairs (all send to all).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tools/perf/perf_dialogue.h"
#include "tools/perf/perf_exchange.h"
#include "tools/perf/perf_mx.h"

namespace omx::tools {

// Returns whether member `from` of a group sends to member `to`. The leader has rank 0.
constexpr bool group_sends(PerfPattern pattern, std::uint64_t from, std::uint64_t to) {
  return from != to && (pattern == PerfPattern::all_pairs || to == 0);
}

// Must be destroyed after its endpoint is closed, because the endpoint may still receive into these buffers.
class PerfGroup {
 public:
  static constexpr std::uint64_t kMembersMost = 1024;

  // Adds the next member, and connects to it if this one will send there. Returns false if the description is
  // impossible.
  Result<bool> member_add(MxPort& port, const PerfMember& member, std::uint32_t timeout_ms);
  std::uint64_t members() const { return members_.size(); }

  // Allocates the buffers and posts the first receives. Returns false for an impossible step or for lack of
  // memory.
  Result<bool> prepare(const PerfStep& step);
  // Sends and receives all messages of the step.
  Result<void> run();
  const std::optional<Mismatch>& mismatch() const { return mismatch_; }

 private:
  struct Flow;
  // A place for one message in flight. It is the context of its request.
  struct Slot {
    Flow* flow = nullptr;
    std::byte* data = nullptr;
    std::uint64_t number = 0;  // of the message
    mx_request_t request = nullptr;
  };
  // The messages to, or from, one other member.
  struct Flow {
    std::uint64_t rank = 0;
    bool receives = false;
    mx_endpoint_addr_t address{};
    std::uint64_t posted = 0, done = 0;
    std::vector<Slot> slots;
  };
  struct Member {
    std::uint64_t nic = 0, endpoint = 0;
    mx_endpoint_addr_t address{};  // if this member sends there
  };

  void flow_add(std::uint64_t rank, bool receives, std::byte* data);
  Result<void> post(Slot& slot);
  void check(const Slot& slot);
  std::string missing_text() const;

  MxPort* port_ = nullptr;
  PerfPattern pattern_ = PerfPattern::incast;
  std::uint32_t group_ = 0;
  std::uint64_t own_rank_ = 0, planned_ = 0;
  std::vector<Member> members_;
  PerfStep step_;
  std::uint64_t stride_ = 0;
  Region outgoing_, incoming_;
  std::deque<Flow> flows_;  // which stay where they are
  std::optional<Mismatch> mismatch_;
};

}  // namespace omx::tools
