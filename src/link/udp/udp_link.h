// SPDX-License-Identifier: BSD-3-Clause
// Frames as UDP datagrams: for processes that may not send raw ones, and for networks that drop those.
#pragma once

#include <memory>

#include "base/expected.h"
#include "link/transport.h"
#include "link/udp/udp_options.h"

namespace omx::link {

// Frames as UDP datagrams: needs no privileges, and passes routers. The NIC id is made of the interface's
// address (wire/udp_nic.h), and frames to such an id go there. Failures name the remedy (no address, port in
// use).
Result<std::unique_ptr<Transport>> udp_link_open(const UdpLinkOptions& options);

}  // namespace omx::link
