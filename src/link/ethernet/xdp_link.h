// SPDX-License-Identifier: BSD-3-Clause
// The link through AF_XDP. A program in the driver hands frames over before the kernel makes packets of
// them. Where the driver can, the frames go into memory that this process shares with the NIC
// (docs/explanation/af-xdp.md).
#pragma once

#include <memory>

#include "base/expected.h"
#include "link/transport.h"
#include "link/xdp/xdp_facts.h"
#include "link/xdp/xdp_options.h"

namespace omx::link {

// Returns false when this build lacks the program. All functions that can fail then do so with a message
// that says so.
bool xdp_built();

// Opens an AF_XDP link. Falls back to a packet link, with a warning, when other processes use all queues,
// because frames look the same by either. Anything else that is missing is a failure that names the remedy.
Result<std::unique_ptr<Transport>> xdp_link_open(const XdpLinkOptions& options);

// Does all that opening does up to joining the interface, and leaves again. Fails with kBusy when all queues
// are in use.
Result<XdpFacts> xdp_trial(const XdpLinkOptions& options);

}  // namespace omx::link
