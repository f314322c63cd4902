// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/rails_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/packets.h"

namespace omx::tools {

namespace {

std::string note_of(const runtime::Board& rail, const runtime::Board& board) {
  if (!rail.interface.up || !rail.interface.running)
    return rail.interface.up ? "no carrier, used as soon as it has one" : "down, used as soon as it is up";
  if (rail.mtu != board.mtu)
    return fmt::format("MTU {} beside {}: messages by both use frames of {}", rail.mtu, board.mtu,
                       std::min(rail.mtu, board.mtu));
  return {};
}

}  // namespace

RailsFacts rails_facts_find(const HostFacts& host, const runtime::Board& board) {
  RailsFacts facts;
  facts.wanted = host.settings.rails;
  if (facts.wanted.empty() || !host.process) return facts;
  const auto others = host.process->rails_of(host.process->boards(), board, facts.wanted);
  if (!others) {
    facts.problem = others.error().message;
    return facts;
  }
  std::size_t used = 1;
  for (const runtime::Board* other : *others) {
    RailFact fact{other->interface.name, used < wire::kRailsMost, {}};
    used += fact.used;
    fact.note = fact.used
                    ? note_of(*other, board)
                    : fmt::format("left out, because an endpoint uses at most {} boards", wire::kRailsMost);
    facts.rails.push_back(std::move(fact));
  }
  for (const runtime::Board& other : host.process->boards()) {
    const bool named = std::any_of(facts.rails.begin(), facts.rails.end(), [&](const RailFact& fact) {
      return fact.interface == other.interface.name;
    });
    if (named || other.number == board.number) continue;
    facts.rails.push_back({other.interface.name, false,
                           others->empty()            ? "this board is alone, or not in OMX_RAILS"
                           : other.interface.loopback ? "loopback"
                                                      : "not in OMX_RAILS"});
  }
  return facts;
}

std::string rails_text(const RailsFacts& facts) {
  if (facts.wanted.empty()) return {};
  if (!facts.problem.empty()) return fmt::format("   no endpoint can be opened: {}\n", facts.problem);
  std::string names, notes;
  for (const RailFact& fact : facts.rails) {
    if (fact.used) names += (names.empty() ? "" : ", ") + fact.interface;
    if (!fact.note.empty())
      notes +=
          fmt::format("     {}{}: {}\n", fact.interface, fact.used ? "" : " is not used with it", fact.note);
  }
  return fmt::format("   its endpoints use {} (OMX_RAILS={})\n{}",
                     names.empty() ? "no other board" : "also " + names, facts.wanted, notes);
}

}  // namespace omx::tools
