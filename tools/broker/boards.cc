// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/boards.h"

#include <dirent.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/host_name.h"
#include "base/log.h"
#include "base/text.h"
#include "netdev/interfaces.h"
#include "netdev/interfaces_meant.h"
#include "tools/broker/adoption.h"
#include "tools/broker/kernel/macvlan.h"
#include "tools/broker/set_up.h"
#include "wire/board_hostname.h"

namespace omx::broker {

namespace {

const link::Choice* choice_of(const std::vector<link::Choice>& choices, const std::string& name) {
  const auto found = std::ranges::find_if(
      choices, [&](const link::Choice& choice) { return choice.interface.name == name; });
  return found == choices.end() ? nullptr : &*found;
}

// Makes a served NIC count as up, and as no port of the broker's own macvlan in mode passthru.
void served_mark(link::Interface& nic, bool passthru) {
  nic.up = nic.running = true;
  if (passthru) nic.master.clear();
}

// Chooses among the words that mean an interface. Notes the others.
Result<Wanted> choose(const Policy& policy, const std::vector<link::Interface>& all) {
  Wanted wanted;
  Policy present = policy;
  present.boards.clear();
  for (const std::string_view word : list_words(policy.boards)) {
    Policy one = policy;
    one.boards = std::string(word);
    if (const auto alone = one.boards_choose(all); alone) {
      present.boards += (present.boards.empty() ? "" : ",") + one.boards;
    } else if (link::term_of(word) == link::Term::malformed) {
      return tl::unexpected(alone.error());
    } else {
      wanted.absent.push_back(alone.error().message);
    }
  }
  if (present.boards.empty() && !wanted.absent.empty()) {
    for (const link::Interface& nic : all) wanted.choices.push_back({nic, false, "the policy names others"});
    return wanted;
  }
  auto choices = present.boards_choose(all);
  if (!choices) return tl::unexpected(choices.error());
  wanted.choices = std::move(*choices);
  return wanted;
}

// Returns whether the policy may want a NIC of which only the name is known, because it is not here.
bool may_be_wanted(const Policy& policy, const std::string& name) {
  const auto words = list_words(policy.boards);
  return words.empty() || std::ranges::any_of(words, [&](std::string_view word) {
           return word == name || word == "all" || link::term_of(word) != link::Term::name;
         });
}

// Returns the boards whose grants wait until they are served, by the ifindex of their NICs: those that the
// policy wants, and those whose NIC is not here but has a private network.
std::map<std::uint32_t, link::Choice> awaited(const BrokerState& state, const Wanted& wanted) {
  std::map<std::uint32_t, link::Choice> boards;
  for (const link::Choice& choice : wanted.choices)
    if (choice.taken) boards[choice.interface.index] = choice;
  const std::string folder = networks_folder(state.policy);
  for (const std::string& name : networks_list(folder)) {
    if (choice_of(wanted.choices, name) || !may_be_wanted(state.policy, name)) continue;
    const auto network = PrivateNetwork::open(folder + "/" + name);
    if (!network) continue;
    const auto macvlan = macvlan_find(*network, name);
    if (!macvlan || !*macvlan) continue;
    link::Choice& choice = boards[(*macvlan)->lower];
    choice.interface.name = name;
    choice.taken = true;
  }
  return boards;
}

void adopt(BrokerState& state, const Wanted& wanted) {
  if (const std::size_t count = grants_adopt(state, awaited(state, wanted)))
    log(LogLevel::summary, "{} open endpoints are taken up", count);
}

// Returns whether a NIC that could not be served is as it was then.
bool unchanged(const link::Interface& a, const link::Interface& b) {
  return a.index == b.index && a.nic == b.nic && a.mtu == b.mtu && a.up == b.up;
}

// Serves a board, under the number that it had, if it had one. Returns whether it is served.
bool board_serve(BrokerState& state, const link::Choice& choice) {
  const std::string& name = choice.interface.name;
  const auto former =
      std::ranges::find_if(state.boards, [&](const auto& board) { return board->name() == name; });
  const auto number = static_cast<std::uint32_t>(former - state.boards.begin());
  ServedBoard::Plan plan;
  plan.number = number;
  plan.choice = choice;
  plan.mode = state.policy.mode_of(name);
  plan.passthru = state.policy.passthru_of(name);
  plan.hostname = wire::board_hostname(host_name("localhost"), number);
  plan.ears.open = [&state, number](std::uint32_t endpoint) {
    return state.grants.open(number, static_cast<std::uint8_t>(endpoint));
  };
  plan.ears.named = [&state, number](const BoardVoice::Name& heard) { state.named(number, heard); };
  auto board = ServedBoard::open(std::move(plan), {state.maps, networks_folder(state.policy)});
  if (!board) {
    log(LogLevel::error, "{}: {}", name, board.error().message);
    state.unserved[name] = choice.interface;
    return false;
  }
  state.unserved.erase(name);
  if (former == state.boards.end()) {
    state.boards.push_back(std::move(*board));
  } else {
    (*board)->succeed(std::move(*former));
    *former = std::move(*board);
  }
  return true;
}

void board_retire(const BrokerState& state, ServedBoard& board, const Revoke& revoke, std::string_view why) {
  std::vector<std::uint32_t> slots;
  for (const auto& [slot, grant] : state.grants.all())
    if (grant.board == board.plan().number) slots.push_back(slot);
  for (const std::uint32_t slot : slots) revoke(slot, why);
  log(LogLevel::summary, "{}: {}", board.name(), why);
  board.retire();
}

// Returns why a board cannot stay as it is; empty if it can.
std::string change_of(const Policy& policy, const ServedBoard& board, const link::Choice* choice) {
  const ServedBoard::Plan& plan = board.plan();
  if (!choice || !choice->taken) return "the policy has this board no more";
  if (policy.mode_of(board.name()) != plan.mode) return "the policy changed the mode of this board";
  if (policy.passthru_of(board.name()) != plan.passthru)
    return "the policy changed \"passthru\" of this board";
  const bool same_nic = choice->interface.index == board.nic_index();
  const bool own_address = plan.mode == Mode::confined && !plan.passthru;
  if (choice->interface.nic != plan.choice.interface.nic && !(same_nic && own_address))
    return "its NIC has another MAC address";
  return {};
}

bool present(const std::string& name) {
  return std::ranges::any_of(link::interfaces_list(),
                             [&](const link::Interface& nic) { return nic.name == name; });
}

}  // namespace

std::vector<std::string> networks_list(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

Result<Wanted> boards_wanted(const Policy& policy, const std::vector<std::unique_ptr<ServedBoard>>& served) {
  std::vector<link::Interface> all = link::interfaces_list();
  const std::vector<std::string> networks = networks_list(networks_folder(policy));
  for (link::Interface& nic : all) {
    if (std::ranges::find(networks, nic.name) != networks.end())
      served_mark(nic, policy.passthru_of(nic.name));
  }
  for (const auto& board : served) {
    if (board->retired()) continue;
    const auto here = std::ranges::find_if(all, [&](const auto& nic) { return nic.name == board->name(); });
    link::Interface& nic = here == all.end() ? all.emplace_back(board->plan().choice.interface)
                                             : *here;  // one that is gone comes back
    served_mark(nic, board->plan().passthru);
  }
  return choose(policy, all);
}

void boards_serve(BrokerState& state, const Wanted& wanted) {
  bool more = false;
  for (const link::Choice& choice : wanted.choices) {
    const std::string& name = choice.interface.name;
    if (!choice.taken || state.board_named(name)) continue;
    const auto failed = state.unserved.find(name);
    if (failed != state.unserved.end() && unchanged(failed->second, choice.interface)) continue;
    if (present(name)) more = board_serve(state, choice) || more;
  }
  if (more) adopt(state, wanted);
}

void boards_appear(BrokerState& state) {
  const auto wanted = boards_wanted(state.policy, state.boards);
  if (!wanted) return;
  const std::size_t before = state.boards.size();
  boards_serve(state, *wanted);
  for (std::size_t i = before; i < state.boards.size(); i++)
    log(LogLevel::summary, "{} has appeared, and is served", state.boards[i]->name());
}

void boards_reload(BrokerState& state, const Revoke& revoke) {
  state.unserved.clear();
  const auto wanted = boards_wanted(state.policy, state.boards);
  if (!wanted) return log(LogLevel::error, "{}; the boards stay as they are", wanted.error().message);
  for (const std::string& absent : wanted->absent)
    log(LogLevel::warn, "{}; it is served once it is there", absent);
  for (const auto& board : state.boards) {
    if (board->retired()) continue;
    const std::string change = change_of(state.policy, *board, choice_of(wanted->choices, board->name()));
    if (!change.empty()) board_retire(state, *board, revoke, change);
  }
  boards_serve(state, *wanted);
  adopt(state, *wanted);  // grants that wait are judged by the new policy, too
}

}  // namespace omx::broker
