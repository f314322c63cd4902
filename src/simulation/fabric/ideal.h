// SPDX-License-Identifier: BSD-3-Clause
// What a fabric could do at best.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/fabric/options.h"
#include "simulation/fabric/tree.h"

namespace omx::simulation::fabric {

struct Message {
  TimeNs at = 0;  // when it is sent
  std::uint32_t from = 0, to = 0, length = 0;
};

// Returns the bytes of a message on the cable in frames of this MTU, with headers, gaps and preambles, and
// without any other frame.
std::uint64_t wire_bytes(std::uint32_t mtu, std::uint32_t length);
// Returns how long a message takes on the empty fabric: its bytes at the rate of the links, the last frame
// stored and forwarded at each switch, the delays of the links, and half of the longest and shortest poll.
TimeNs empty_time(const FabricOptions& options, const Tree& tree, const Message& message);

// Returns for each message how long it takes if all are known everywhere and at once, and are served as a
// fluid in the order of the bytes left (as the ideal of the pFabric paper). The rates of the hosts' links,
// and of all links together that leave or enter a leaf or a pod, are respected, so the ways are chosen
// ideally, too.
std::vector<TimeNs> ideal_times(const FabricOptions& options, const Tree& tree,
                                const std::vector<Message>& messages);

}  // namespace omx::simulation::fabric
