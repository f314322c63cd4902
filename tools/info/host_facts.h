// SPDX-License-Identifier: BSD-3-Clause
// What several commands look up first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/settings.h"
#include "netdev/interfaces.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"
#include "runtime/process/process.h"

namespace omx::tools {

struct HostFacts {
  runtime::Settings settings;
  std::vector<link::Choice> choices;          // all interfaces, taken or not
  std::unique_ptr<runtime::Process> process;  // nullptr: why is in `no_boards`
  Failure no_boards;
};

// A failure is one of the configuration; a host without a usable interface has facts all the same.
Result<HostFacts> host_facts_find();

// The boards that `-b` selects: all when it is negative.
Result<std::vector<runtime::Board>> boards_select(const std::vector<runtime::Board>& boards, long number);

struct OpenEndpoint {
  std::uint32_t id = 0;
  runtime::ClaimHolder holder;
  std::vector<int> processors;  // that its process is bound to; empty: to none
};
std::vector<OpenEndpoint> endpoints_open(const runtime::Board& board, const runtime::Settings& settings);
// "pid 12 (name)", or that it cannot be seen.
std::string holder_text(const runtime::ClaimHolder& holder);

// Whether this process reaches others by UDP, or may open packet sockets; asked by opening one.
bool may_open_endpoints(const runtime::Process* process);
// What to say when it does not.
std::string no_packet_sockets(const runtime::Settings& settings);

// "h1:0 (board #0 name eth0 addr 02:00:00:00:00:01)": a form that scripts look for.
std::string board_text(const runtime::Board& board);

}  // namespace omx::tools
