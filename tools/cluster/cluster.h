// SPDX-License-Identifier: BSD-3-Clause
// What `omx check --hosts` finds out about a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cluster/channel.h"

namespace omx::tools {

// A link of a host as its agent opened it.
struct HostLink {
  std::uint64_t nic = 0, endpoint = 0, mtu = 0, window = 0;
};

struct Host {
  std::string name;  // as the user gave it
  std::unique_ptr<Channel> channel;
  // Starts another agent, if that is possible. Only the main thread may call it.
  std::function<Result<std::unique_ptr<Channel>>()> start_again;
  std::string failure;  // why it cannot be examined; empty: it can
  Record facts;
  std::map<std::string, HostLink> links;      // by kind: "raw", "udp", "xdp"
  std::map<std::string, std::string> closed;  // why a link could not be opened
  // How far its clock is ahead of ours, and how wrong that may be.
  double clock_ahead_s = 0, clock_error_s = 0;
};

// One direction between two hosts by one link.
struct Path {
  std::size_t from = 0, to = 0;
  std::string link;
  bool measured = false;  // false: an agent failed
  bool reached = false;
  std::uint64_t frame = 0, expected = 0;  // bytes of the largest frame that passed, and that should pass
  double half_round_trip_us = 0;          // 0: not known
  double gbps = 0;                        // 0: not known
  std::uint64_t sent = 0, received = 0, duplicates = 0, damaged = 0;

  std::uint64_t lost() const { return sent > received ? sent - received : 0; }
  double loss() const { return sent ? static_cast<double>(lost()) / static_cast<double>(sent) : 0; }
};

struct Cluster {
  std::vector<Host> hosts;
  std::vector<std::string> links;  // kinds that were asked for, the first one first
  std::vector<Path> paths;
  std::uint64_t board = 0;  // of each host
  std::size_t again = 0;    // paths that were measured again
};

// Returns the key of a fact about the board that is examined: "board0.mtu".
std::string board_key(const Cluster& cluster, const std::string& fact);
// Returns the kind of a link for people to read.
std::string link_text(const std::string& kind);

}  // namespace omx::tools
