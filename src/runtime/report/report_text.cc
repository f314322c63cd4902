// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/report_text.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "base/text.h"

namespace omx::runtime {

namespace {

struct PathNames {
  const char* text;
  const char* key;
};
constexpr std::array<PathNames, kReportPaths> kPaths = {{{"shared memory", "shared_memory"},
                                                         {"raw frames", "raw_frames"},
                                                         {"AF_XDP", "af_xdp"},
                                                         {"UDP", "udp"},
                                                         {"UDP bulk path", "udp_bulk_path"}}};

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(kUnits); unit++) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string sums_text(std::uint64_t sent, std::uint64_t sent_bytes, std::uint64_t received,
                      std::uint64_t received_bytes) {
  return fmt::format("sent {} ({}), received {} ({})", sent, bytes_text(sent_bytes), received,
                     bytes_text(received_bytes));
}

const char* plural(std::uint64_t count, const char* one, const char* more) {
  return count == 1 ? one : more;
}

std::string json_string(std::string_view text) {
  std::string made = "\"";
  for (const char c : shown(text, 300)) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

}  // namespace

std::string report_line(const ReportHeading& heading, const ReportTotals& t) {
  std::string line = fmt::format("OMX: report of {}: {} {}", shown(heading.host), heading.processes,
                                 plural(heading.processes, "process", "processes"));
  auto out = std::back_inserter(line);
  if (heading.missing) fmt::format_to(out, " ({} more ended without a report)", heading.missing);
  fmt::format_to(out, ", {} {}", t.endpoints, plural(t.endpoints, "endpoint", "endpoints"));
  if (!t.links_text().empty()) fmt::format_to(out, " on {}", shown(t.links_text(), t.links.size()));
  fmt::format_to(out, "; messages {}",
                 sums_text(t.messages_sent, t.bytes_sent, t.messages_received, t.bytes_received));
  for (std::size_t i = 0; i < kReportPaths; i++) {
    const ReportPathSums& p = t.paths[i];
    if (p.messages_sent || p.messages_received)
      fmt::format_to(out, "; by {} {}", kPaths[i].text,
                     sums_text(p.messages_sent, p.bytes_sent, p.messages_received, p.bytes_received));
  }
  fmt::format_to(out, "; repeats {}; wake-ups {}; stalls {}", t.resends + t.pull_rerequests, t.wakeups,
                 t.waits_for_window + t.waits_for_local_ring + t.receive_ring_drops);
  fmt::format_to(out, "; copies: {} unexpected, {} moved, {} by an engine, {} in one copy",
                 t.unexpected_messages, t.pieces_moved_after_kernel, t.engine_copies, t.one_copy_reads);
  return line;
}

std::string report_json(const ReportHeading& heading, const ReportTotals& t) {
  std::string line =
      fmt::format("{{\"host\": {}, \"processes\": {}, \"processes_without_report\": {}, \"links\": {}",
                  json_string(heading.host), heading.processes, heading.missing, json_string(t.links_text()));
  auto out = std::back_inserter(line);
#define OMX_REPORT_SUM(name) fmt::format_to(out, ", \"{}\": {}", #name, t.name);
  OMX_REPORT_SUMS(OMX_REPORT_SUM)
#undef OMX_REPORT_SUM
  line += ", \"paths\": {";
  for (std::size_t i = 0; i < kReportPaths; i++) {
    const ReportPathSums& p = t.paths[i];
    fmt::format_to(out,
                   "{}\"{}\": {{\"messages_sent\": {}, \"messages_received\": {}, \"bytes_sent\": {}, "
                   "\"bytes_received\": {}}}",
                   i ? ", " : "", kPaths[i].key, p.messages_sent, p.messages_received, p.bytes_sent,
                   p.bytes_received);
  }
  return line + "}}";
}

}  // namespace omx::runtime
