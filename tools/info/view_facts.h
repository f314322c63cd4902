// SPDX-License-Identifier: BSD-3-Clause
// Reads what the open endpoints of this host publish about themselves, for omx top and omx dump.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/endpoint/counters_shared.h"
#include "tools/info/host_facts.h"

namespace omx::tools {

struct EndpointView {
  runtime::Board board;
  OpenEndpoint endpoint;
  std::unique_ptr<runtime::SharedEndpoint> shared;
  protocol::TimeNs taken = 0;  // when it was read, on CLOCK_MONOTONIC like the times in it

  const runtime::SharedCounters& counters() const { return shared->counters; }
  const runtime::SharedView& view() const { return shared->view; }
  const protocol::Snapshot& snapshot() const { return shared->view.snapshot; }
};

struct ViewQuery {
  pid_t pid = 0;       // 0: endpoints of all processes
  long endpoint = -1;  // -1: all endpoints
};

struct Views {
  std::vector<EndpointView> read;
  std::vector<std::string> unread;  // one sentence for each endpoint that could not be read
};

Views views_take(const std::vector<runtime::Board>& boards, const runtime::Settings& settings,
                 const ViewQuery& query);

// Returns a name such as "h2:0", or the MAC address of a NIC whose name is not known here.
std::string nic_text(runtime::PeerTable& names, NicId nic);
// Returns nic_text() with "endpoint N".
std::string peer_text(runtime::PeerTable& names, NicId nic, std::uint8_t endpoint);
// Formats a time in nanoseconds as "0.4 s" or "12 min".
std::string age_text(protocol::TimeNs age);

}  // namespace omx::tools
