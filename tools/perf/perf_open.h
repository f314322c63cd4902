// SPDX-License-Identifier: BSD-3-Clause
// Opens the endpoint of a client of `omx perf`, and finds its server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/perf/perf_mx.h"
#include "tools/perf/perf_options.h"

namespace omx::tools {

struct PerfWay {
  std::unique_ptr<MxPort> port;
  std::uint64_t nic = 0;  // the server's NIC
};

// Opens an endpoint for a client. `index` counts the threads: each has an endpoint, and a server's endpoint,
// of its own.
Result<PerfWay> way_open(const PerfOptions& options, const std::string& peer, unsigned index);
Result<std::uint64_t> nic_find(const std::string& peer);
// Returns the failure of connecting to the endpoint of the server's thread `index`.
Failure thread_failure(const PerfOptions& options, unsigned index, const Failure& failure);
// Prints a failure, and returns the exit status. A failure without a text was printed by the library.
int perf_failed(const Failure& failure);
// Binds the calling thread to a processor; a negative one changes nothing. Returns whether that was possible.
bool thread_pin(int cpu);

}  // namespace omx::tools
