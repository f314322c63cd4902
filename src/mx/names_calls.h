// SPDX-License-Identifier: BSD-3-Clause
// Boards and names, for both interfaces (docs/spec/mx-api.md 4.2). Only the return type depends on the
// interface. All functions return the code of the call.
#pragma once

#include <cstdint>

#include "mx/call.h"

namespace omx::mx {

int board_nic(Call& call, runtime::Process& process, std::uint32_t board, std::uint64_t* nic);
int nic_board(Call& call, runtime::Process& process, std::uint64_t nic, std::uint32_t* board);
int name_nic(Call& call, runtime::Process& process, const char* name, std::uint64_t* nic);
// Writes to `name`, which has room for MX_MAX_HOSTNAME_LEN characters.
int nic_name(Call& call, runtime::Process& process, std::uint64_t nic, char* name);

}  // namespace omx::mx
