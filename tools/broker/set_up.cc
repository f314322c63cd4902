// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/set_up.h"

#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "netdev/bpf_call.h"
#include "netdev/interfaces.h"
#include "netdev/open_failure.h"
#include "tools/broker/adoption.h"
#include "tools/broker/boards.h"
#include "tools/broker/kernel/egress_hook.h"
#include "tools/broker/kernel/macvlan.h"
#include "tools/broker/kernel/packet_sockets.h"
#include "tools/broker/kernel/seal.h"

namespace omx::broker {

namespace {

constexpr std::uint32_t kConnectionsMost = 16384;

// All users together may hold this part of the host's memory, unless the policy says otherwise.
std::uint64_t memory_quarter() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 4;
}

Result<GrantMaps> maps_of(const EgressHook& hook) {
  const OwnFd program = link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, hook.program_id);
  return grant_maps_of(program.get());
}

// Revokes all grants that the program at an interface of this network knows.
void grants_clear_at(std::uint32_t ifindex) {
  const auto hook = egress_hook_find(ifindex);
  if (!hook || hook->program_id == 0) return;
  const auto maps = maps_of(*hook);
  for (std::uint32_t slot = 0; maps && slot < kSlots; slot++) grant_clear(*maps, slot);
}

// Returns whether a socket may be open that the program at a NIC keeps silent.
bool trusted_sockets_live(const EgressHook& hook) {
  const auto maps = maps_of(hook);
  return (!maps || trusted_noted(*maps)) && sealed_sockets_live();
}

bool report(const Result<void>& done) {
  if (!done) log(LogLevel::error, "{}", done.error().message);
  return done.has_value();
}

}  // namespace

Holding total_of(const Policy& policy) {
  return {kSlots, policy.memory_total.value_or(memory_quarter()), kConnectionsMost, kSocketsEach * kSlots};
}

std::string networks_folder(const Policy& policy) {
  return policy.socket.path.substr(0, policy.socket.path.rfind('/')) + "/net";
}

Result<std::unique_ptr<BrokerState>> broker_set_up(Policy policy, const Named& named) {
  auto wanted = boards_wanted(policy);
  if (!wanted) return tl::unexpected(wanted.error());
  for (const std::string& absent : wanted->absent)
    log(LogLevel::warn, "{}; it is served once it is there", absent);
  // Grants of boards that left the policy are found, too, and end.
  auto maps = maps_adopt(wanted->choices, networks_folder(policy));
  if (!maps) return tl::unexpected(maps.error());
  const Holding total = total_of(policy);
  auto made = std::make_unique<BrokerState>(std::move(policy), accounts_of_host(), std::move(*maps), total);
  made->named = named;
  boards_serve(*made, *wanted);
  if (made->boards.empty() && wanted->absent.empty())
    return fail(link::kNoDevice,
                "no board can be served; name interfaces in broker.conf (boards = NAME), or see "
                "above what is missing");
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
  const std::vector<link::Interface> interfaces = link::interfaces_list();
  for (const link::Interface& interface : interfaces) grants_clear_at(interface.index);
  for (const std::string& name : networks_list(folder)) {
    const std::string path = folder + "/" + name;
    auto network = PrivateNetwork::open(path);
    if (network) {
      run_in(*network, [&] { grants_clear_at(::if_nametoindex(name.c_str())); });
      all = report(macvlan_remove(*network, name)) && all;
      all = report(network->remove()) && all;
    } else {
      ::unlink(path.c_str());  // it was never mounted
    }
  }
  for (const link::Interface& interface : interfaces) {
    const auto hook = egress_hook_find(interface.index);
    if (!hook || hook->program_id == 0) continue;
    if (trusted_sockets_live(*hook)) {
      log(LogLevel::error,
          "the broker's program stays at {}, because sockets of its trusted mode may be open, which it keeps "
          "silent; "
          "end their processes (ss --packet --processes shows them), then call omxd --clean again",
          interface.name);
      all = false;
      continue;
    }
    all = report(egress_hook_remove(interface.index)) && all;
  }
  Seal::leftovers_remove();
  return all;
}

}  // namespace omx::broker
