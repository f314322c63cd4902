// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/programs.h"

#include "tools/parity/check.h"
#include "tools/parity/counters.h"
#include "tools/parity/discovery.h"
#include "tools/parity/endpoint_info.h"
#include "tools/parity/hostname.h"
#include "tools/parity/info.h"
#include "tools/parity/init_peers.h"
#include "tools/parity/perf.h"

namespace omx::tools {

namespace {

struct Named {
  std::string_view name;
  Program run;
};
constexpr Named kPrograms[] = {
    {"omx_info", parity_info},
    {"omx_counters", parity_counters},
    {"omx_endpoint_info", parity_endpoint_info},
    {"omx_hostname", parity_hostname},
    {"omx_init_peers", parity_init_peers},
    {"omx_perf", parity_perf},
    {"omx_check", parity_check},
    {"omxoed", parity_discovery},
};

}  // namespace

Program parity_program(std::string_view name) {
  for (const Named& program : kPrograms) {
    if (program.name == name) return program.run;
  }
  return nullptr;
}

}  // namespace omx::tools
