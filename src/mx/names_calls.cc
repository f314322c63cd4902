// SPDX-License-Identifier: BSD-3-Clause
#include "mx/names_calls.h"

#include <cstdio>
#include <cstring>

namespace omx::mx {

int board_nic(Call& call, runtime::Process& process, std::uint32_t board, std::uint64_t* nic) {
  if (!nic) return call.fail_null("nic_id");
  const auto& boards = process.boards();
  if (board >= boards.size()) return call.fail(OMX_BOARD_UNKNOWN, "board {} of {}", board, boards.size());
  *nic = boards[board].interface.nic;
  return OMX_SUCCESS;
}

int nic_board(Call& call, runtime::Process& process, std::uint64_t nic, std::uint32_t* board) {
  if (!board) return call.fail_null("board_number");
  const runtime::Board* found = process.board_of(nic);
  if (!found) return call.fail(OMX_BOARD_UNKNOWN, "{:#x} is not a board of this host", nic);
  *board = found->number;
  return OMX_SUCCESS;
}

int name_nic(Call& call, runtime::Process& process, const char* name, std::uint64_t* nic) {
  if (!name || !nic) return call.fail(OMX_BAD_HOSTNAME_ARGS, "{} is NULL", name ? "nic_id" : "hostname");
  // Longer names cannot exist, and a look-up would only load the network.
  if (::strnlen(name, MX_MAX_HOSTNAME_LEN) == MX_MAX_HOSTNAME_LEN)
    return call.fail(OMX_HOST_NOT_FOUND, "the name has more than {} characters", MX_MAX_HOSTNAME_LEN - 1);
  const auto found = process.nic_of(name);
  if (!found) return call.fail(OMX_HOST_NOT_FOUND, "{}", found.error().message);
  *nic = *found;
  return OMX_SUCCESS;
}

int nic_name(Call& call, runtime::Process& process, std::uint64_t nic, char* name) {
  if (!name) return call.fail(OMX_BAD_HOSTNAME_ARGS, "hostname is NULL");
  const auto found = process.name_of(nic);
  if (!found) return call.fail(OMX_HOST_NOT_FOUND, "{}", found.error().message);
  std::snprintf(name, MX_MAX_HOSTNAME_LEN, "%s", found->c_str());
  return OMX_SUCCESS;
}

}  // namespace omx::mx
