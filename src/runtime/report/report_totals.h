// SPDX-License-Identifier: BSD-3-Clause
// What endpoints did, summed up for the report at the end of a job (OMX_REPORT).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/endpoint/counters_shared.h"

namespace omx::runtime {

// The ways that a message takes. A message counts for one of them only.
enum class ReportPath : std::uint8_t { shared_memory, raw_frames, xdp, udp, udp_bulk, count };
inline constexpr std::size_t kReportPaths = static_cast<std::size_t>(ReportPath::count);

// X(name): what is summed. The names are the keys of the JSON line.
#define OMX_REPORT_SUMS(X)   \
  X(endpoints)               \
  X(messages_sent)           \
  X(messages_received)       \
  X(bytes_sent)              \
  X(bytes_received)          \
  X(frames_sent)             \
  X(frames_received)         \
  X(resends)                 \
  X(pull_rerequests)         \
  X(wakeups)                 \
  X(takeovers)               \
  X(waits_for_window)        \
  X(waits_for_local_ring)    \
  X(receive_ring_drops)      \
  X(one_copy_reads)          \
  X(one_copy_bytes)          \
  X(engine_copies)           \
  X(unexpected_messages)     \
  X(pieces_placed_by_kernel) \
  X(pieces_moved_after_kernel)

struct ReportPathSums {
  std::uint64_t messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0;
};

// Several processes write these into one file, so there are no pointers.
struct ReportTotals {
#define OMX_REPORT_SUM(name) std::uint64_t name = 0;
  OMX_REPORT_SUMS(OMX_REPORT_SUM)
#undef OMX_REPORT_SUM
  std::array<ReportPathSums, kReportPaths> paths;
  // Which links carried frames, separated by commas: "eth0 by raw frames". Not terminated when it is full.
  std::array<char, 128> links{};

  std::string_view links_text() const;
  // Names a link, once. A link for which there is no room is left out.
  void link_add(std::string_view link);
  // Adds what an endpoint on its own board did. `frames`: the way that its frames take.
  void endpoint_add(const SharedCounters& counters, ReportPath frames);
  // Adds what another board of an endpoint did (OMX_RAILS).
  void rail_add(const link::LinkCounters& counters);
  void add(const ReportTotals& other);
};

}  // namespace omx::runtime
