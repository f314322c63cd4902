// SPDX-License-Identifier: BSD-3-Clause
// Holds what `omx info` found, and prints it as text or JSON.
#pragma once

#include <string>
#include <vector>

#include "copy/engines.h"
#include "steering/queues.h"
#include "tools/info/engine_facts.h"
#include "tools/info/host_facts.h"
#include "tools/info/local_facts.h"
#include "tools/info/provider_facts.h"
#include "tools/info/rails_facts.h"

namespace omx::tools {

struct BoardInfo {
  runtime::Board board;
  steering::ReceiveQueues queues;
  std::vector<OpenEndpoint> open;
  RailsFacts rails;
  std::string xdp;  // how AF_XDP works there, or why it does not; empty: OMX_LINK is not xdp
  bool xdp_works = false;
  EngineFacts extended;   // with Open-MX peers like this one
  EngineFacts reference;  // with legacy peers
};

struct InfoReport {
  HostFacts host;
  bool packet_sockets = false;  // this process may open packet sockets
  bool permitted = false;       // this process may open endpoints
  std::string broker;           // whether the broker was asked, and what it gave
  std::vector<BoardInfo> boards;
  std::vector<runtime::Peer> peers;
  LocalFacts local;
  ProviderFacts provider;
  std::vector<copy::EngineFact> copy_engines;
  std::vector<std::string> warnings;
};

const char* mode_name(wire::Mode mode);

// Returns why this process can open no endpoint, or an empty string if it can.
std::string info_obstacle(const InfoReport& report);

std::string info_text(const InfoReport& report);
std::string info_json(const InfoReport& report);
std::string settings_text(const runtime::Settings& settings);
std::string settings_json(const runtime::Settings& settings);

}  // namespace omx::tools
