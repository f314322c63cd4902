// SPDX-License-Identifier: BSD-3-Clause
// What `omx info` found out, and its two forms.
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
  std::string xdp;  // how AF_XDP works there, or why not; empty: not asked for
  bool xdp_works = false;
  EngineFacts extended;   // with peers like us
  EngineFacts reference;  // with others
};

struct InfoReport {
  HostFacts host;
  bool packet_sockets = false;  // this process may open them
  bool permitted = false;       // to open endpoints
  std::vector<BoardInfo> boards;
  std::vector<runtime::Peer> peers;
  LocalFacts local;
  ProviderFacts provider;
  std::vector<copy::EngineFact> copy_engines;
  std::vector<std::string> warnings;
};

const char* mode_name(wire::Mode mode);

// Why this process can open no endpoint; empty: it can.
std::string info_obstacle(const InfoReport& report);

std::string info_text(const InfoReport& report);
std::string info_json(const InfoReport& report);
std::string settings_text(const runtime::Settings& settings);
std::string settings_json(const runtime::Settings& settings);

}  // namespace omx::tools
