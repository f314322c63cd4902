// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/set_up.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "netdev/interfaces.h"
#include "netdev/open_failure.h"
#include "tools/broker/adoption.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/macvlan.h"
#include "tools/broker/kernel/seal.h"
#include "wire/sizes.h"

namespace omx::broker {

namespace {

// All users together may hold this part of the host's memory, unless the policy says otherwise.
std::uint64_t memory_quarter() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 4;
}

std::string board_hostname(std::uint32_t number) {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) < 0 || !name[0]) return fmt::format("localhost:{}", number);
  const std::string suffix = fmt::format(":{}", number);
  return std::string(name).substr(0, kNameBytes - 1 - suffix.size()) + suffix;
}

std::vector<std::string> networks_list(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

bool report(const Result<void>& done) {
  if (!done) log(LogLevel::error, "{}", done.error().message);
  return done.has_value();
}

}  // namespace

std::string networks_folder(const Policy& policy) {
  return policy.socket.path.substr(0, policy.socket.path.rfind('/')) + "/net";
}

Result<std::unique_ptr<BrokerState>> broker_set_up(Policy policy, const Named& named) {
  auto choices = policy.boards_choose(link::interfaces_list());
  if (!choices) return tl::unexpected(choices.error());
  std::erase_if(*choices, [](const link::Choice& choice) { return !choice.taken; });
  auto maps = maps_adopt(*choices, networks_folder(policy));
  if (!maps) return tl::unexpected(maps.error());
  const Holding total{kSlots, policy.memory_total.value_or(memory_quarter()), 16384};
  auto made = std::make_unique<BrokerState>(std::move(policy), accounts_of_host(), std::move(*maps), total);
  BrokerState& state = *made;
  for (const link::Choice& choice : *choices) {
    const auto number = static_cast<std::uint32_t>(state.boards.size());
    ServedBoard::Plan plan;
    plan.number = number;
    plan.choice = choice;
    plan.mode = state.policy.mode_of(choice.interface.name);
    plan.passthru = state.policy.passthru_of(choice.interface.name);
    plan.hostname = board_hostname(number);
    plan.ears.open = [&state, number](std::uint32_t endpoint) {
      return state.grants.open(number, static_cast<std::uint8_t>(endpoint));
    };
    plan.ears.named = [named, number](const BoardVoice::Name& name) { named(number, name); };
    auto board = ServedBoard::open(std::move(plan), {state.maps, networks_folder(state.policy)});
    if (!board) {
      log(LogLevel::error, "{}: {}", choice.interface.name, board.error().message);
      continue;
    }
    state.boards.push_back(std::move(*board));
  }
  if (state.boards.empty())
    return fail(link::kNoDevice,
                "no board can be served; name interfaces in broker.conf (boards = NAME), or see "
                "above what is missing");
  if (const std::size_t count = grants_adopt(state))
    log(LogLevel::summary, "{} open endpoints are taken up", count);
  return made;
}

std::size_t broker_take_down(BrokerState& state) {
  for (const auto& board : state.boards) {
    const std::uint32_t number = board->plan().number;
    const bool used = std::ranges::any_of(state.grants.all(),
                                          [=](const auto& grant) { return grant.second.board == number; });
    if (!used) board->remove();
  }
  return state.grants.all().size();
}

bool broker_clean(const Policy& policy) {
  bool all = true;
  const std::string folder = networks_folder(policy);
  for (const std::string& name : networks_list(folder)) {
    const std::string path = folder + "/" + name;
    auto network = PrivateNetwork::open(path);
    if (network) {
      all = report(macvlan_remove(*network, name)) && all;
      all = report(network->remove()) && all;
    } else {
      ::unlink(path.c_str());  // it was never mounted
    }
  }
  for (const link::Interface& interface : link::interfaces_list()) {
    const auto hook = egress_hook_find(interface.index);
    if (hook && hook->program_id != 0) all = report(egress_hook_remove(interface.index)) && all;
  }
  Seal::leftovers_remove();
  return all;
}

}  // namespace omx::broker
