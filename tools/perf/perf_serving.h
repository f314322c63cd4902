// SPDX-License-Identifier: BSD-3-Clause
// Serves one client of `omx perf` by one endpoint.
#pragma once

#include <atomic>
#include <string>

#include "tools/perf/perf_exchange.h"
#include "tools/perf/perf_group.h"
#include "tools/perf/perf_mx.h"
#include "tools/perf/perf_usage.h"

namespace omx::tools {

// The endpoint of a server and what it needs. The port is destroyed first: until then it may receive into the
// others.
struct PerfSeat {
  PerfExchange exchange{false};
  PerfGroup group;
  std::unique_ptr<MxPort> port;
};

class PerfServing {
 public:
  PerfServing(PerfSeat& seat, PerfMeter& meter, std::uint32_t timeout_ms)
      : seat_(seat), port_(*seat.port), meter_(meter), timeout_ms_(timeout_ms) {}

  // Waits for a client and serves it until it leaves. Sets `client` to its name as soon as it is known. If
  // `stop` is given and becomes true before a client has come, returns.
  Result<void> serve(std::string& client, const std::atomic<bool>* stop = nullptr);

 private:
  Result<bool> hello_wait(std::string& client, const std::atomic<bool>* stop);
  // Serves one request. Returns false when the client has left.
  Result<bool> request();
  Result<void> step(const PerfStep& wanted);
  Result<void> group_step(const PerfStep& wanted);
  Result<void> member(const PerfMember& member);
  Result<void> result(const std::optional<Mismatch>& wrong, const PerfUsage& usage, double seconds);
  Result<void> answer(const PerfAnswer& what);
  Result<void> answer(PerfVerdict verdict) { return answer({static_cast<std::uint64_t>(verdict)}); }

  PerfSeat& seat_;
  MxPort& port_;
  PerfMeter& meter_;
  const std::uint32_t timeout_ms_;
  mx_endpoint_addr_t client_{};
  std::uint32_t number_ = 0;
  std::uint64_t dialogue_ = kDialogueFirst;
};

}  // namespace omx::tools
