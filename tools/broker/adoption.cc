// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/adoption.h"

#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "link/packet/packet_ring.h"
#include "netdev/bpf_call.h"
#include "netdev/open_failure.h"
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
  if (id == 0) look(board.index);
  return id == 0 ? OwnFd() : link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, id);
}

// Opens the process that a grant names. Not open when it is gone, or another process has its number.
OwnFd process_open(const Grant& grant) {
  const auto pid = static_cast<pid_t>(grant.pid);
  OwnFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process.open() && process_started(pid) != grant.started) process.reset();
  return process;
}

// Takes up a grant, or clears it if its socket or process is gone.
bool adopt(BrokerState& state, std::uint32_t slot, const Grant& grant,
           const std::vector<std::uint64_t>& living, std::uint32_t board) {
  OwnFd process = process_open(grant);
  const bool lives = std::ranges::find(living, grant.cookie) != living.end();
  if (!lives || !process.open() || state.grants.open(board, grant.endpoint)) {
    grant_clear(state.maps, slot);
    return false;
  }
  GrantEntry entry;
  entry.slot = slot;
  entry.board = board;
  entry.endpoint = grant.endpoint;
  entry.user = state.accounts.user(grant.uid);
  entry.pid = static_cast<pid_t>(grant.pid);
  entry.started = grant.started;
  entry.cookie = grant.cookie;
  entry.classes = ebpf_array_by_id(grant.classes, sizeof(Classes));
  state.rates.adopt(grant.uid, grant.user);
  entry.process = std::move(process);
  // The grant counts, even beyond a limit that was lowered meanwhile.
  Limits any;
  any.endpoints = any.connections = ~0U;
  any.memory = ~0ULL;
  state.quota.take(entry.user, {1, 0, 0}, any);
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
  return tl::unexpected(failure);
}

Result<GrantMaps> maps_adopt(const std::vector<link::Choice>& boards, const std::string& networks) {
  auto maps = maps_find(boards, networks);
  if (maps) return maps;
  if (maps.error().mx_code != link::kNoDevice)
    log(LogLevel::warn, "{}; endpoints that are open now go silent", maps.error().message);
  return grant_maps_make();
}

std::size_t grants_adopt(BrokerState& state) {
  std::size_t count = 0;
  std::vector<std::vector<std::uint64_t>> living;
  for (const auto& board : state.boards)
    living.push_back(board->sockets_living().value_or(std::vector<std::uint64_t>()));
  for (std::uint32_t slot = 0; slot < kSlots; slot++) {
    Grant grant;
    if (grant_read(state.maps, slot, grant) != 0 || grant.cookie == 0) continue;
    const auto board =
        std::ranges::find_if(state.boards, [&](const auto& b) { return b->nic_index() == grant.ifindex; });
    if (board == state.boards.end()) {
      grant_clear(state.maps, slot);
      continue;
    }
    const std::uint32_t number = (*board)->plan().number;
    count += adopt(state, slot, grant, living[number], number) ? 1 : 0;
  }
  return count;
}

}  // namespace omx::broker
