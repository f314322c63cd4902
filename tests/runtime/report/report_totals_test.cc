// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/report_totals.h"

#include <gmock/gmock.h>

#include <string>

#include "runtime/report/report_text.h"

namespace omx::runtime {

namespace {

using protocol::Counter;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SharedCounters counters_made() {
  SharedCounters c;
  c.engine[Counter::messages_sent] = 100;
  c.engine[Counter::bytes_sent] = 5'000'000;
  c.engine[Counter::messages_received] = 70;
  c.engine[Counter::bytes_received] = 900;
  c.engine[Counter::messages_sent_local] = 30;
  c.engine[Counter::bytes_sent_local] = 1'000;
  c.engine[Counter::messages_sent_bulk] = 20;
  c.engine[Counter::bytes_sent_bulk] = 4'900'000;
  c.engine[Counter::resend_timeout] = 1;
  c.engine[Counter::resend_tail] = 2;
  c.engine[Counter::resend_sack] = 3;
  c.engine[Counter::pull_rerequest_gap] = 4;
  c.engine[Counter::pull_rerequest_timer] = 5;
  c.engine[Counter::pull_rerequest_rail] = 6;
  c.engine[Counter::throttled] = 7;
  c.local.frames_delayed = 8;
  c.link.ring_drops = 9;
  c.wakeups = 11;
  return c;
}

const ReportPathSums& path(const ReportTotals& totals, ReportPath which) {
  return totals.paths[static_cast<std::size_t>(which)];
}

TEST(report_totals, what_no_other_path_took_went_by_frames) {
  ReportTotals totals;
  totals.endpoint_add(counters_made(), ReportPath::xdp);
  EXPECT_EQ(path(totals, ReportPath::shared_memory).messages_sent, 30U);
  EXPECT_EQ(path(totals, ReportPath::udp_bulk).bytes_sent, 4'900'000U);
  EXPECT_EQ(path(totals, ReportPath::xdp).messages_sent, 50U);
  EXPECT_EQ(path(totals, ReportPath::xdp).bytes_sent, 99'000U);
  EXPECT_EQ(path(totals, ReportPath::xdp).messages_received, 70U);
  EXPECT_EQ(path(totals, ReportPath::raw_frames).messages_sent, 0U);
}

// A message by the bulk path that no receive took is counted for the path only.
TEST(report_totals, rest_is_never_negative) {
  SharedCounters c;
  c.engine[Counter::messages_received] = 1;
  c.engine[Counter::messages_received_bulk] = 2;
  ReportTotals totals;
  totals.endpoint_add(c, ReportPath::raw_frames);
  EXPECT_EQ(path(totals, ReportPath::raw_frames).messages_received, 0U);
}

TEST(report_totals, links_are_named_once_and_as_far_as_there_is_room) {
  ReportTotals totals, other;
  totals.link_add("eth0 by UDP");
  totals.link_add("eth0 by UDP");
  other.link_add("eth1 by UDP");
  other.link_add("eth0 by UDP");
  totals.add(other);
  EXPECT_EQ(totals.links_text(), "eth0 by UDP, eth1 by UDP");
  totals.link_add(std::string(200, 'x'));
  EXPECT_EQ(totals.links_text(), "eth0 by UDP, eth1 by UDP");
  totals.link_add(std::string(totals.links.size() - totals.links_text().size() - 2, 'y'));
  EXPECT_EQ(totals.links_text().size(), totals.links.size());
}

TEST(report_line, says_paths_that_were_taken) {
  ReportTotals totals, twice;
  totals.endpoint_add(counters_made(), ReportPath::raw_frames);
  totals.link_add("eth0 by raw frames");
  twice.add(totals);
  twice.add(totals);
  const std::string line = report_line({"h1", 2, 0}, twice);
  EXPECT_EQ(
      line,
      "OMX: report of h1: 2 processes, 2 endpoints on eth0 by raw frames; messages sent 200 (10 MB), "
      "received 140 (1.8 kB); by shared memory sent 60 (2.0 kB), received 0 (0 B); by raw frames sent 100 "
      "(198 kB), received 140 (1.8 kB); by UDP bulk path sent 40 (9.8 MB), received 0 (0 B); repeats 42; "
      "wake-ups 22; stalls 48; copies: 0 unexpected, 0 moved, 0 by an engine, 0 in one copy");
}

TEST(report_line, says_which_processes_are_missing) {
  EXPECT_THAT(report_line({"h1", 1, 2}, {}),
              StartsWith("OMX: report of h1: 1 process (2 more ended without a "
                         "report), 0 endpoints; messages sent 0 (0 B), "));
}

TEST(report_line, rounds_to_two_digits_at_least) {
  ReportTotals totals;
  for (const auto& [bytes, text] : {std::pair<std::uint64_t, const char*>{999, "(999 B)"},
                                    {1'000, "(1.0 kB)"},
                                    {9'949, "(9.9 kB)"},
                                    {9'950, "(10 kB)"},
                                    {999'499, "(999 kB)"},
                                    {999'500, "(1.0 MB)"},
                                    {18'446'744'073'709'551'615U, "(18 EB)"}}) {
    totals.bytes_sent = bytes;
    EXPECT_THAT(report_line({"h", 1, 0}, totals), HasSubstr(text));
  }
}

TEST(report_json, has_every_figure_in_one_line) {
  ReportTotals totals;
  totals.endpoint_add(counters_made(), ReportPath::udp);
  totals.link_add("et\"h0");
  const std::string json = report_json({"h\n1", 3, 1}, totals);
  EXPECT_THAT(json,
              StartsWith("{\"host\": \"h?1\", \"processes\": 3, \"processes_without_report\": 1, \"links\": "
                         "\"et\\\"h0\", \"endpoints\": 1, \"messages_sent\": 100,"));
  EXPECT_THAT(json, HasSubstr("\"resends\": 6, \"pull_rerequests\": 15,"));
  EXPECT_THAT(json,
              HasSubstr("\"udp\": {\"messages_sent\": 50, \"messages_received\": 70, \"bytes_sent\": 99000, "
                        "\"bytes_received\": 900}"));
  EXPECT_THAT(json, Not(HasSubstr("\n")));
}

}  // namespace

}  // namespace omx::runtime
