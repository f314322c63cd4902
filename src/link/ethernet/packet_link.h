// SPDX-License-Identifier: BSD-3-Clause
// The link through AF_PACKET, which works on every Linux with any Ethernet interface.
#pragma once

#include <memory>

#include "base/expected.h"
#include "link/packet/packet_options.h"
#include "link/transport.h"

namespace omx::link {

// Opens AF_PACKET with a memory-mapped receive ring. Failures name the remedy (missing CAP_NET_RAW, no such
// interface). An interface that is down is opened with a warning, and the link works when the interface
// comes up.
Result<std::unique_ptr<Transport>> packet_link_open(const PacketLinkOptions& options);

}  // namespace omx::link
