// SPDX-License-Identifier: BSD-3-Clause
// The receive queues of an interface, and the processors that handle what arrives in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "netdev/interfaces.h"
#include "steering/flow_hints.h"
#include "steering/steered.h"

namespace omx::steering {

struct ReceiveQueue {
  int number = 0;
  std::string interrupt;        // its number; empty: it raises none, or none that is known
  std::vector<int> processors;  // that handle its frames and are switched on; empty: not known
  std::string source;           // who says so: "interrupt 45 (eth0-TxRx-3)", "RPS of eth0 rx-3"
};

struct ReceiveQueues {
  std::string interface;             // whose they are: of a VLAN, the NIC's below it
  int count = 0;                     // of queues that frames are spread over; 0: not known
  std::vector<ReceiveQueue> queues;  // of which something is known, by number
  bool rps = false;                  // RPS is on for one of them: it comes after steering, and undoes it
  Steered steered = {};              // before which the queues do not matter
  bool udp = false;                  // frames are datagrams, which omx steer lets pass, and go to any queue,
  std::vector<int> flows = {};       // except where flow rules of the NIC say to which; see flow_hints()
};

// Which of so many queues an endpoint's frames are taken to arrive in, where they are not steered.
inline int queue_of(std::uint32_t endpoint, int queues) {
  return static_cast<int>(endpoint % static_cast<std::uint32_t>(queues));
}

// Whether they go by the table of omx steer.
inline bool steering_decides(const ReceiveQueues& queues) {
  return !queues.udp && !queues.rps && !queues.steered.processors.empty();
}

// Whether a flow rule says where those of this endpoint go.
inline bool flow_decides(const ReceiveQueues& queues, std::uint32_t endpoint) {
  return queues.udp && endpoint < queues.flows.size() && queues.flows[endpoint] >= 0;
}

// Where the frames of an endpoint are handled: steered, in no queue (-1). Nothing: that is not known.
std::optional<ReceiveQueue> queue_find(const ReceiveQueues& queues, std::uint32_t endpoint);

// `root` stands in front of /sys and /proc: it is empty except in tests, for which nothing is steered. What
// cannot be read is not known. `udp`: frames come as datagrams, to these ports.
ReceiveQueues receive_queues_read(const std::string& root, const link::Interface& interface,
                                  const DatagramPorts* udp = nullptr);

// The receive queues of this interface for which RPS is on. It hands frames over anew, also those that an XDP
// program has handed to a processor. `root` as above.
std::vector<int> rps_queues(const std::string& root, const link::Interface& interface);

}  // namespace omx::steering
