// SPDX-License-Identifier: BSD-3-Clause
// The receive queues of an interface, and the processors that handle the frames in them.
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
  std::string interrupt;        // number of its interrupt; empty: none is known
  std::vector<int> processors;  // online ones that handle its frames; empty: not known
  std::string source;           // origin of this fact: "interrupt 45 (eth0-TxRx-3)", "RPS of eth0 rx-3"
};

struct ReceiveQueues {
  std::string interface;             // interface with the queues: for a VLAN, the NIC below it
  int count = 0;                     // queues that frames are spread over; 0: not known
  std::vector<ReceiveQueue> queues;  // queues of which something is known, by number
  bool rps = false;                  // RPS is on for a queue; RPS runs after steering and undoes it
  Steered steered = {};              // takes precedence over the queues
  bool udp = false;  // frames are datagrams: omx steer lets them pass, and they go to any queue ...
  std::vector<int> flows = {};  // ... except where flow rules of the NIC choose one; see flow_hints()
};

// Returns the queue that an endpoint's frames are taken to arrive in when they are not steered.
inline int queue_of(std::uint32_t endpoint, int queues) {
  return static_cast<int>(endpoint % static_cast<std::uint32_t>(queues));
}

// Returns whether the table of omx steer decides where frames are handled.
inline bool steering_decides(const ReceiveQueues& queues) {
  return !queues.udp && !queues.rps && !queues.steered.processors.empty();
}

// Returns whether a flow rule chooses the queue of this endpoint's datagrams.
inline bool flow_decides(const ReceiveQueues& queues, std::uint32_t endpoint) {
  return queues.udp && endpoint < queues.flows.size() && queues.flows[endpoint] >= 0;
}

// Returns the queue in which the frames of an endpoint are handled, or nothing if it is not known. Steered
// frames have queue number -1.
std::optional<ReceiveQueue> queue_find(const ReceiveQueues& queues, std::uint32_t endpoint);

// Reads the queues. What cannot be read is unknown. `root` is a prefix of /sys and /proc, empty except in
// tests; with a prefix, nothing counts as steered. `udp` gives the ports if frames come as datagrams.
ReceiveQueues receive_queues_read(const std::string& root, const link::Interface& interface,
                                  const DatagramPorts* udp = nullptr);

// Returns the receive queues of this interface for which RPS is on. RPS hands frames over again, also frames
// that an XDP program has handed to a processor. `root` as above.
std::vector<int> rps_queues(const std::string& root, const link::Interface& interface);

}  // namespace omx::steering
