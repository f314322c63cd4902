// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/adoption.h"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/log.h"
#include "link/packet/packet_ring.h"
#include "netdev/bpf_call.h"
#include "netdev/open_failure.h"
#include "tools/broker/boards.h"
#include "tools/broker/client.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/egress_hook.h"

namespace omx::broker {

namespace {

// Opens the egress program of a board, whichever mode it was served in. Not open when there is none.
OwnFd program_find(const link::Interface& board, const std::string& networks) {
  std::uint32_t id = 0;
  const auto look = [&](std::uint32_t ifindex) {
    const auto hook = egress_hook_find(ifindex);
    if (hook && hook->program_id != 0) id = hook->program_id;
  };
  if (const auto network = PrivateNetwork::open(networks + "/" + board.name))
    run_in(*network, [&] { look(::if_nametoindex(board.name.c_str())); });
  if (id == 0 && board.index != 0) look(board.index);
  return id == 0 ? OwnFd() : link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, id);
}

// Opens the process that a grant names. Not open when it is gone, or another process has its number.
OwnFd process_open(const Grant& grant) {
  const auto pid = static_cast<pid_t>(grant.pid);
  OwnFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process.open() && process_started(pid) != grant.started) process.reset();
  return process;
}

// Returns the user of a grant, with the groups that its process has. They may be others than those of the
// account, as those of a shell from before a change.
User user_of(const Grant& grant, const Accounts& accounts) {
  User user = accounts.user(grant.uid);
  user.account_gids = user.gids;
  std::ifstream status(fmt::format("/proc/{}/status", grant.pid));
  std::vector<gid_t> gids;
  bool known = false;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key != "Gid:" && key != "Groups:") continue;
    std::vector<gid_t> these;
    for (gid_t gid = 0; words >> gid;) these.push_back(gid);
    // Of the line Gid the second one is the effective one.
    if (key == "Gid:" && these.size() > 1) gids.push_back(these[1]);
    if (key == "Groups:") gids.insert(gids.end(), these.begin(), these.end());
    known = known || key == "Groups:";
  }
  if (known) user.gids = std::move(gids);
  return user;
}

// Returns the user of a grant. Clears the grant if the policy does not allow it any more.
std::optional<User> user_allowed(const BrokerState& state, std::uint32_t slot, const Grant& grant,
                                 const link::Choice& board, Mode mode) {
  User user = user_of(grant, state.accounts);
  const auto may = state.policy.may(user, board, mode);
  if (may) return user;
  grant_clear(state.maps, slot);
  log(LogLevel::warn, "end: process {} endpoint {} of {}: {}", grant.pid, grant.endpoint,
      board.interface.name, may.error().message);
  return std::nullopt;
}

// Gives the grant the rate that its user has now. Clears the grant if that cannot be.
bool rate_adopt(BrokerState& state, std::uint32_t slot, Grant grant, const User& user) {
  state.rates.adopt(grant.uid, grant.user);
  const auto number = state.rates.set(grant.uid, state.policy.limits_of(user).rate);
  if (!number) {
    log(LogLevel::error, "end: process {} endpoint {}: {}", grant.pid, grant.endpoint,
        number.error().message);
    grant_clear(state.maps, slot);
    return false;
  }
  if (*number == grant.user) return true;
  grant.user = *number;
  return grant_write(state.maps, slot, grant) == 0;
}

// Takes up a grant, or clears it if its socket or process is gone, or the policy does not allow it any more.
bool adopt(BrokerState& state, std::uint32_t slot, const Grant& grant,
           const std::vector<PacketSocket>& living, const ServedBoard::Plan& plan) {
  const std::uint32_t board = plan.number;
  OwnFd process = process_open(grant);
  const auto socket = std::ranges::find(living, grant.cookie, &PacketSocket::cookie);
  if (socket == living.end() || !process.open() || state.grants.open(board, grant.endpoint)) {
    grant_clear(state.maps, slot);
    return false;
  }
  const auto user = user_allowed(state, slot, grant, plan.choice, plan.mode);
  if (!user || !rate_adopt(state, slot, grant, *user)) return false;
  GrantEntry entry;
  entry.slot = slot;
  entry.board = board;
  entry.endpoint = grant.endpoint;
  entry.user = *user;
  entry.pid = static_cast<pid_t>(grant.pid);
  entry.started = grant.started;
  entry.cookie = grant.cookie;
  entry.classes = ebpf_array_by_id(grant.classes, sizeof(Classes));
  entry.process = std::move(process);
  // The grant does not say which sockets are beside the data socket, so these do not count any more.
  entry.bytes = socket->ring + kSendBytes;
  state.quota.hold(entry.user.uid, {1, entry.bytes, 0, 1});
  state.grants.add(std::move(entry));
  return true;
}

}  // namespace

Result<GrantMaps> maps_find(const std::vector<link::Choice>& boards, const std::string& networks) {
  Failure failure{link::kNoDevice, "no broker has served this host since it started"};
  for (const link::Choice& board : boards) {
    const OwnFd program = program_find(board.interface, networks);
    if (!program.open()) continue;
    auto maps = grant_maps_of(program.get());
    if (maps) return maps;
    failure = maps.error();
  }
  // Of NICs that are not here.
  for (const std::string& name : networks_list(networks)) {
    link::Interface gone;
    gone.name = name;
    const OwnFd program = program_find(gone, networks);
    if (!program.open()) continue;
    if (auto maps = grant_maps_of(program.get())) return maps;
  }
  return tl::unexpected(failure);
}

Result<GrantMaps> maps_adopt(const std::vector<link::Choice>& boards, const std::string& networks) {
  auto maps = maps_find(boards, networks);
  if (maps) return maps;
  if (maps.error().mx_code != link::kNoDevice)
    log(LogLevel::warn, "{}; endpoints that are open now go silent", maps.error().message);
  return grant_maps_make();
}

std::size_t grants_adopt(BrokerState& state, const std::map<std::uint32_t, link::Choice>& awaited) {
  std::size_t count = 0;
  std::vector<std::vector<PacketSocket>> living;
  for (const auto& board : state.boards)
    living.push_back(board->sockets().value_or(std::vector<PacketSocket>()));
  for (std::uint32_t slot = 0; slot < kSlots; slot++) {
    Grant grant;
    if (state.grants.all().contains(slot)) continue;
    if (grant_read(state.maps, slot, grant) != 0 || grant.cookie == 0) continue;
    const auto board = std::ranges::find_if(
        state.boards, [&](const auto& b) { return !b->retired() && b->nic_index() == grant.ifindex; });
    if (board != state.boards.end()) {
      const ServedBoard::Plan& plan = (*board)->plan();
      state.grants.reserve(slot, false);
      count += adopt(state, slot, grant, living[plan.number], plan) ? 1 : 0;
      continue;
    }
    const auto later = awaited.find(grant.ifindex);
    const bool waits =
        later != awaited.end() &&
        user_allowed(state, slot, grant, later->second, state.policy.mode_of(later->second.interface.name));
    state.grants.reserve(slot, waits);
    if (!waits) grant_clear(state.maps, slot);
  }
  return count;
}

}  // namespace omx::broker
