// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/report_totals.h"

#include <algorithm>
#include <cstring>

#include "protocol/counters.h"

namespace omx::runtime {

namespace {

using protocol::Counter;

// A message may be counted for its path before it is counted as received, so the rest is never negative.
std::uint64_t rest(std::uint64_t all, std::uint64_t local, std::uint64_t bulk) {
  return all - std::min(all, local + bulk);
}

void path_add(ReportPathSums& to, const ReportPathSums& sums) {
  to.messages_sent += sums.messages_sent;
  to.messages_received += sums.messages_received;
  to.bytes_sent += sums.bytes_sent;
  to.bytes_received += sums.bytes_received;
}

constexpr std::string_view kBetween = ", ";

// Calls `call` with each link of a list, until it returns false. Returns whether it never did.
template <class Call>
bool links_visit(std::string_view list, Call call) {
  while (!list.empty()) {
    const std::string_view link = list.substr(0, list.find(kBetween));
    if (!call(link)) return false;
    list.remove_prefix(std::min(link.size() + kBetween.size(), list.size()));
  }
  return true;
}

}  // namespace

std::string_view ReportTotals::links_text() const {
  return {links.data(), ::strnlen(links.data(), links.size())};
}

void ReportTotals::link_add(std::string_view link) {
  const std::string_view known = links_text();
  if (!links_visit(known, [link](std::string_view other) { return other != link; })) return;
  const std::string_view between = known.empty() ? "" : kBetween;
  if (known.size() + between.size() + link.size() > links.size()) return;
  char* const end = std::copy(between.begin(), between.end(), links.data() + known.size());
  std::copy(link.begin(), link.end(), end);
}

void ReportTotals::endpoint_add(const SharedCounters& counters, ReportPath frames) {
  const protocol::Counters& e = counters.engine;
  endpoints++;
  messages_sent += e[Counter::messages_sent];
  messages_received += e[Counter::messages_received];
  bytes_sent += e[Counter::bytes_sent];
  bytes_received += e[Counter::bytes_received];
  resends += e[Counter::resend_timeout] + e[Counter::resend_tail] + e[Counter::resend_sack];
  pull_rerequests +=
      e[Counter::pull_rerequest_gap] + e[Counter::pull_rerequest_timer] + e[Counter::pull_rerequest_rail];
  wakeups += counters.wakeups;
  takeovers += counters.takeovers;
  waits_for_window += e[Counter::throttled];
  waits_for_local_ring += counters.local.frames_delayed;
  one_copy_reads += counters.local.direct_reads;
  one_copy_bytes += counters.local.direct_bytes;
  engine_copies += e[Counter::pull_copy_offloaded];
  unexpected_messages += e[Counter::unexpected];
  rail_add(counters.link);

  const ReportPathSums local{e[Counter::messages_sent_local], e[Counter::messages_received_local],
                             e[Counter::bytes_sent_local], e[Counter::bytes_received_local]};
  const ReportPathSums bulk{e[Counter::messages_sent_bulk], e[Counter::messages_received_bulk],
                            e[Counter::bytes_sent_bulk], e[Counter::bytes_received_bulk]};
  path_add(paths[static_cast<std::size_t>(ReportPath::shared_memory)], local);
  path_add(paths[static_cast<std::size_t>(ReportPath::udp_bulk)], bulk);
  path_add(paths[static_cast<std::size_t>(frames)],
           {rest(e[Counter::messages_sent], local.messages_sent, bulk.messages_sent),
            rest(e[Counter::messages_received], local.messages_received, bulk.messages_received),
            rest(e[Counter::bytes_sent], local.bytes_sent, bulk.bytes_sent),
            rest(e[Counter::bytes_received], local.bytes_received, bulk.bytes_received)});
}

void ReportTotals::rail_add(const link::LinkCounters& counters) {
  frames_sent += counters.frames_sent;
  frames_received += counters.frames_received;
  receive_ring_drops += counters.ring_drops;
  pieces_placed_by_kernel += counters.bulk_placed;
  pieces_moved_after_kernel += counters.bulk_moved;
}

void ReportTotals::add(const ReportTotals& other) {
#define OMX_REPORT_SUM(name) name += other.name;
  OMX_REPORT_SUMS(OMX_REPORT_SUM)
#undef OMX_REPORT_SUM
  for (std::size_t i = 0; i < kReportPaths; i++) path_add(paths[i], other.paths[i]);
  links_visit(other.links_text(), [this](std::string_view link) {
    link_add(link);
    return true;
  });
}

}  // namespace omx::runtime
