// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/process_boards.h"

#include <sys/socket.h>

#include "base/own_fd.h"
#include "netdev/interface_state.h"

namespace omx::runtime {

namespace {

// Returns whether the interface that has the board's name now is the one that peers know. By UDP they know
// its IP address, otherwise its MAC address.
bool board_is(const Board& board, const link::InterfaceState& now) {
  if (!board.udp) return now.nic == board.mac;
  if (now.index == board.interface.index && now.nic == board.mac) return true;
  const auto address = link::interface_address(board.interface.name, now.index, board.family);
  return address && link::udp_nic(address->ip) == board.interface.nic;
}

}  // namespace

std::vector<Board> ProcessBoards::now() const {
  std::vector<Board> boards = found_;
  const OwnFd any(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any.open()) return boards;
  for (Board& board : boards) {
    if (board.granted()) continue;  // the broker follows its interface
    link::InterfaceState now;
    if (link::interface_state_by_name(any.get(), board.interface.name, now) != 0 || !board_is(board, now))
      continue;
    board.interface.index = now.index;
    board.mac = now.nic;
  }
  return boards;
}

const Board* ProcessBoards::of(NicId nic) const {
  for (const Board& board : found_) {
    if (board.interface.nic == nic) return &board;
  }
  return nullptr;
}

}  // namespace omx::runtime
