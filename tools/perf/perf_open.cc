// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_open.h"

#include <fmt/format.h>

#include "base/affinity.h"
#include "tools/command.h"

namespace omx::tools {

Result<std::uint64_t> nic_find(const std::string& peer) {
  auto nic = MxPort::find_nic(peer);
  if (nic) return nic;
  return fail(nic.error().mx_code, fmt::format("{}; is \"omx perf\" running there?", nic.error().message));
}

Failure thread_failure(const PerfOptions& options, unsigned index, const Failure& failure) {
  // Only the first endpoint is one that the user named.
  if (!index) return failure;
  return {failure.mx_code,
          fmt::format("{}; does the server have --threads {}, too?", failure.message, options.threads)};
}

// After a client has failed, a server on this host gives up its endpoint for a moment. So "any
// endpoint" can open the very endpoint to which this client wants to talk. Then another is opened.
Result<PerfWay> way_open(const PerfOptions& options, const std::string& peer, unsigned index) {
  const bool any = options.endpoint < 0;
  const std::uint32_t id = any ? MX_ANY_ENDPOINT : static_cast<std::uint32_t>(options.endpoint) + index;
  const std::uint32_t wanted = options.peer_endpoint + index;
  auto port = MxPort::open(options.board, id);
  if (!port) return tl::unexpected(port.error());
  const auto nic = nic_find(peer);
  if (!nic) return tl::unexpected(nic.error());
  if ((*port)->nic() == *nic && (*port)->endpoint_id() == wanted) {
    if (!any) {
      return fail(MX_FAILURE,
                  fmt::format("endpoint {} is this command's own: give it another with --endpoint", wanted));
    }
    auto other = MxPort::open(options.board, id);  // the first port is still held, so this one differs
    if (!other) return tl::unexpected(other.error());
    port = std::move(other);
  }
  (*port)->set_peer_name(peer);
  return PerfWay{std::move(*port), *nic};
}

int perf_failed(const Failure& failure) {
  return failure.message.empty() ? kFailed : failed("perf", "{}", failure.message);
}

bool thread_pin(int cpu) {
  return cpu < 0 || affinity_set({cpu}) == 0;
}

}  // namespace omx::tools
