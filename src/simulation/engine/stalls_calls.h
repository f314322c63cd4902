// SPDX-License-Identifier: BSD-3-Clause
// The calls of applications in a run of stalls.
#pragma once

#include <cstdint>
#include <optional>

#include "simulation/engine/stalls_checks.h"

namespace omx::simulation {

class StallsCalls : public StallsChecks {
 protected:
  using StallsChecks::StallsChecks;

  Call& call_begin(protocol::RequestKind kind, std::uint32_t host, std::uint32_t other);
  void connect(std::uint32_t host, std::uint32_t other);
  void send(std::uint32_t host, std::uint32_t other, std::size_t length, Class how);
  void send_something(std::uint32_t host, std::uint32_t other);
  void receive(std::uint32_t host, std::optional<std::uint32_t> from, bool anything);
  void probe(std::uint32_t host, std::uint32_t other);
  void cancel_something(std::uint32_t host);
  void cancel(Call& c);
  void reap(std::uint32_t host);
  void reap_all();
  void run_for(TimeNs time);
};

}  // namespace omx::simulation
