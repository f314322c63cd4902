// SPDX-License-Identifier: BSD-3-Clause
// Facts about this host that several commands need.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/settings.h"
#include "netdev/interfaces.h"
#include "netdev/interfaces_choose.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"
#include "runtime/process/process.h"

namespace omx::tools {

struct HostFacts {
  runtime::Settings settings;
  std::vector<link::Choice> choices;          // all interfaces, taken or not
  std::unique_ptr<runtime::Process> process;  // nullptr: `no_boards` says why
  Failure no_boards;
};

// Finds the facts. Fails only for a wrong configuration: a host without a usable interface has facts, too.
Result<HostFacts> host_facts_find();

// Returns the board of this number, or all boards if it is negative.
Result<std::vector<runtime::Board>> boards_select(const std::vector<runtime::Board>& boards, long number);

struct OpenEndpoint {
  std::uint32_t id = 0;
  runtime::ClaimHolder holder;
  bool granted = false;         // by a broker
  std::vector<int> processors;  // processors to which its process is bound; empty: it is not bound
};
std::vector<OpenEndpoint> endpoints_open(const runtime::Board& board, const runtime::Settings& settings);
// Returns "pid 12 (name)", or says that the process cannot be seen.
std::string holder_text(const runtime::ClaimHolder& holder);

// Returns whether this process can open endpoints: by UDP, or because it may open packet sockets, which is
// tried.
bool may_open_endpoints(const runtime::Process* process);
// Returns the message for a process that can open no endpoint.
std::string no_packet_sockets(const runtime::Settings& settings);

// Returns "h1:0 (board #0 name eth0 addr 02:00:00:00:00:01)". Scripts look for this form.
std::string board_text(const runtime::Board& board);

}  // namespace omx::tools
