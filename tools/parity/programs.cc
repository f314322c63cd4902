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

struct Program {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Program kPrograms[] = {
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

std::optional<int> parity_run(std::string_view called_as, int argc, char** argv) {
  const std::string_view name = called_as.substr(called_as.rfind('/') + 1);
  for (const Program& program : kPrograms) {
    if (program.name == name) return program.run(argc, argv);
  }
  return std::nullopt;
}

}  // namespace omx::tools
