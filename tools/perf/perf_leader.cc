// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_leader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "tools/perf/perf_open.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

PerfLeader::~PerfLeader() {
  stop_ = true;
  // A helper whose leader fails notices that when the leader's endpoint is closed.
  port_.reset();
  for (const auto& helper : helpers_) helper->thread.join();
}

Result<void> PerfLeader::connect() {
  auto way = way_open(options_, options_.peers.front(), 0);
  if (!way) return tl::unexpected(way.error());
  port_ = std::move(way->port);
  for (const std::string& peer : options_.peers) {
    const auto nic = nic_find(peer);
    if (!nic) return tl::unexpected(nic.error());
    port_->set_peer_name(peer);
    for (unsigned i = 0; i < options_.threads; i++) {
      auto r = member_connect(peer, *nic, options_.peer_endpoint + i, false);
      if (!r) return tl::unexpected(thread_failure(options_, i, r.error()));
    }
  }
  if (options_.pattern == PerfPattern::all_pairs) {
    if (auto r = helpers_start(); !r) return r;
  }
  number_ = members_.front()->talk.number();
  return introduce();
}

// Starts a server in a thread for each member of this process beside the leader.
Result<void> PerfLeader::helpers_start() {
  for (unsigned i = 1; i < options_.threads; i++) {
    const std::uint32_t id =
        options_.endpoint < 0 ? MX_ANY_ENDPOINT : static_cast<std::uint32_t>(options_.endpoint) + i;
    auto port = MxPort::open(options_.board, id);
    if (!port) return tl::unexpected(port.error());
    auto& helper = helpers_.emplace_back(std::make_unique<Helper>());
    helper->seat.port = std::move(*port);
    const std::uint64_t nic = helper->seat.port->nic();
    const std::uint32_t endpoint = helper->seat.port->endpoint_id();
    helper->thread = std::thread([this, i, &seat = helper->seat] {
      if (options_.cpu >= 0) thread_pin(options_.cpu + static_cast<int>(i));
      PerfMeter meter(PerfMeter::Scope::thread);
      std::string client;
      // The leader sees a failure here as that of a member.
      (void)PerfServing(seat, meter, options_.timeout_s * 1000).serve(client, &stop_);
      seat.port.reset();
    });
    if (auto r = member_connect("this host", nic, endpoint, true); !r) return r;
  }
  return {};
}

Result<void> PerfLeader::member_connect(const std::string& peer, std::uint64_t nic, std::uint32_t endpoint,
                                        bool here) {
  for (const auto& member : members_) {
    if (member->nic == nic && member->endpoint == endpoint)
      return fail(MX_FAILURE, fmt::format("endpoint {} of {} is named twice", endpoint, peer));
  }
  auto member = std::make_unique<Member>(
      Member{PerfTalk(*port_, peer, options_.timeout_s * 1000), nic, endpoint, here});
  if (auto r = member->talk.connect(nic, endpoint); !r) return r;
  members_.push_back(std::move(member));  // so that leave() says goodbye to it
  return members_.back()->talk.require(kDialogueGroups, "--pattern");
}

// Tells every member of all others, in the order of the ranks. The leader has rank 0.
Result<void> PerfLeader::introduce() {
  PerfMember whom;
  whom.pattern = static_cast<std::uint64_t>(options_.pattern);
  whom.group = number_;
  whom.members = members_.size() + 1;
  for (whom.rank = 0; whom.rank < whom.members; whom.rank++) {
    whom.nic = whom.rank ? members_[whom.rank - 1]->nic : port_->nic();
    whom.endpoint = whom.rank ? members_[whom.rank - 1]->endpoint : port_->endpoint_id();
    whom.receiver = 0;
    const auto added = group_.member_add(*port_, whom, options_.timeout_s * 1000);
    if (!added) return tl::unexpected(added.error());
    if (!*added)
      return fail(MX_FAILURE, fmt::format("a group of {} is too large: at most {} members take part",
                                          whom.members, PerfGroup::kMembersMost));
    for (const auto& member : members_) {
      whom.receiver++;
      port_->set_peer(member->talk.server());
      port_->set_waiting(true, 2 * options_.timeout_s * 1000);  // while it connects, too
      const auto answer = member->talk.ask(whom);
      if (!answer) return tl::unexpected(answer.error());
      if (static_cast<PerfVerdict>(answer->verdict) == PerfVerdict::fine) continue;
      return fail(MX_FAILURE, fmt::format("{} does not reach endpoint {} of {}", member->talk.peer(),
                                          whom.endpoint, nic_text(whom.nic)));
    }
  }
  return {};
}

unsigned PerfLeader::pairs() const {
  const auto others = static_cast<unsigned>(members_.size());
  return options_.pattern == PerfPattern::incast ? others : others * (others + 1);
}

Result<PerfAnswer> PerfLeader::answer_take(Member& member) {
  port_->set_peer(member.talk.server());
  return member.talk.answer_take();
}

// Lets all members prepare the step at the same time.
Result<void> PerfLeader::prepare(const PerfStep& step) {
  port_->set_waiting(true, options_.timeout_s * 1000);
  const auto refused = [&step](const std::string& who) {
    return fail(MX_FAILURE,
                fmt::format("{} has no memory for {} messages of {} bytes at a time with each member", who,
                            step.window, step.size));
  };
  const auto possible = group_.prepare(step);
  if (!possible) return tl::unexpected(possible.error());
  if (!*possible) return refused("this host");
  for (const auto& member : members_) {
    if (auto r = member->talk.answer_expect(); !r) return r;
    if (auto r = member->talk.tell(PerfKind::control, step); !r) return r;
  }
  for (const auto& member : members_) {
    const auto answer = answer_take(*member);
    if (!answer) return tl::unexpected(answer.error());
    if (static_cast<PerfVerdict>(answer->verdict) != PerfVerdict::fine) return refused(member->talk.peer());
    if (auto r = member->talk.answer_expect(); !r) return r;
  }
  return {};
}

Result<PerfTook> PerfLeader::run(const PerfStep& wanted, PerfHistogram*) {
  PerfStep step = wanted;
  // The default window is meant for one peer: the others share it.
  if (!options_.window) step.window = std::max<std::uint64_t>(step.window / members_.size(), 1);
  if (auto r = prepare(step); !r) return tl::unexpected(r.error());
  meter_.start();
  const Clock::time_point start = Clock::now();
  for (const auto& member : members_) {
    if (auto r = member->talk.tell(PerfKind::go, step); !r) return tl::unexpected(r.error());
  }
  port_->set_waiting(step.blocking != 0, options_.timeout_s * 1000);
  if (auto r = group_.run(); !r) return tl::unexpected(r.error());
  const double own_s = since(start);
  for (const auto& member : members_) {
    const auto answer = answer_take(*member);
    if (!answer) return tl::unexpected(answer.error());
    member->answer = *answer;
    if (static_cast<PerfVerdict>(answer->verdict) == PerfVerdict::data_wrong)
      return PerfTalk::data_wrong(step.size, answer->message, answer->offset, member->talk.peer());
  }
  const double seconds = since(start);
  if (const auto& wrong = group_.mismatch())
    return PerfTalk::data_wrong(step.size, wrong->message, wrong->offset, "this host");
  return took(step, seconds, own_s, meter_.stop());
}

PerfTook PerfLeader::took(const PerfStep& step, double seconds, double own_s, const PerfUsage& here) const {
  PerfTook took;
  took.seconds = seconds;
  took.here = here;
  // In all-pairs a member sends to all others and receives from them; in incast a server sends only.
  const bool all = options_.pattern == PerfPattern::all_pairs;
  const std::uint64_t flow = step.size * step.count, others = members_.size();
  took.receivers = all ? others : 1;
  took.bytes_here = flow * others * (all ? 2 : 1);
  took.fastest_s = took.slowest_s =
      all ? own_s : static_cast<double>(members_.front()->answer.took_ns) * 1e-9;
  bool first = true;
  for (const auto& member : members_) {
    const double member_s = static_cast<double>(member->answer.took_ns) * 1e-9;
    took.fastest_s = std::min(took.fastest_s, member_s);
    took.slowest_s = std::max(took.slowest_s, member_s);
    const std::uint64_t bytes = flow * (all ? 2 * others : 1);
    // The usage of this process already includes its threads.
    (member->here ? took.bytes_here : took.bytes_there) += bytes;
    if (member->here) continue;
    if (first) {
      took.there = member->answer.usage();
    } else {
      took.there.add(member->answer.usage());
    }
    first = false;
  }
  return took;
}

Result<void> PerfLeader::leave() {
  for (const auto& member : members_) {
    if (auto r = member->talk.bye(); !r) return r;
  }
  return {};
}

}  // namespace omx::tools
