// SPDX-License-Identifier: BSD-3-Clause
// fid_nic: what "fi_info -v" tells about the hardware.
#pragma once

#include <rdma/fabric.h>

#include "runtime/board/boards.h"

namespace omx::fabric {

// Returns a description of the board's hardware, which the fi_info that it goes into owns. nullptr: no
// memory.
fid_nic* nic_of_board(const runtime::Board& board);

}  // namespace omx::fabric
