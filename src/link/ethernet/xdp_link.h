// SPDX-License-Identifier: BSD-3-Clause
// Frames through AF_XDP: a program in the driver hands them over before the kernel makes packets of them,
// into memory that this process shares with the NIC where the driver can (docs/explanation/af-xdp.md).
#pragma once

#include <memory>

#include "base/expected.h"
#include "link/transport.h"
#include "link/xdp/xdp_facts.h"
#include "link/xdp/xdp_options.h"

namespace omx::link {

// False when this build lacks the program; all that can fail then does so with a sentence that says it.
bool xdp_built();

// Falls back to a packet link, with a warning, when all queues are in use by other processes: frames look the
// same by either. All else that is missing is a failure that names the remedy.
Result<std::unique_ptr<Transport>> xdp_link_open(const XdpLinkOptions& options);

// Does all that opening does up to a place on the interface, and leaves again. kBusy: all queues are in use.
Result<XdpFacts> xdp_trial(const XdpLinkOptions& options);

}  // namespace omx::link
