// SPDX-License-Identifier: BSD-3-Clause
// The link that sends frames as UDP datagrams. It is for processes that may not send raw frames, and for
// networks that drop those.
#pragma once

#include <memory>

#include "base/expected.h"
#include "link/transport.h"
#include "link/udp/udp_options.h"

namespace omx::link {

// Opens a UDP link, which needs no privileges and passes routers. The NIC id is made from the interface's
// address (wire/udp_nic.h), and frames to such an id go there. Failures name the remedy (no address, port in
// use).
Result<std::unique_ptr<Transport>> udp_link_open(const UdpLinkOptions& options);

}  // namespace omx::link
