// SPDX-License-Identifier: BSD-3-Clause
// What the open endpoints of this host publish of themselves, for omx top and omx dump.
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
  protocol::TimeNs taken = 0;  // when it was read: CLOCK_MONOTONIC, as the times in it

  const runtime::SharedCounters& counters() const { return shared->counters; }
  const runtime::SharedView& view() const { return shared->view; }
  const protocol::Snapshot& snapshot() const { return shared->view.snapshot; }
};

struct ViewQuery {
  pid_t pid = 0;       // 0: of all processes
  long endpoint = -1;  // -1: all
};

struct Views {
  std::vector<EndpointView> read;
  std::vector<std::string> unread;  // why
};

Views views_take(const std::vector<runtime::Board>& boards, const runtime::Settings& settings,
                 const ViewQuery& query);

// "h2:0", or the MAC address of a NIC without a name that is known here.
std::string nic_text(runtime::PeerTable& names, NicId nic);
// The same with "endpoint N".
std::string peer_text(runtime::PeerTable& names, NicId nic, std::uint8_t endpoint);
// "0.4 s", "12 min": of a time in nanoseconds.
std::string age_text(protocol::TimeNs age);

}  // namespace omx::tools
