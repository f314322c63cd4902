// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "tools/watch/counter_texts.h"

namespace omx::tools {

namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

MetricsSource source(const char* link, std::uint32_t endpoint, const char* process,
                     void (*fill)(runtime::SharedEndpoint&)) {
  auto shared = std::make_shared<runtime::SharedEndpoint>();
  fill(*shared);
  return {link, endpoint, process, std::move(shared)};
}

TEST(metric_name, says_the_unit_once_and_at_the_end) {
  EXPECT_EQ(metric_name("Bytes Sent", "bytes"), "openmx_sent_bytes");
  EXPECT_EQ(metric_name("Drop Malformed Frame", "frames"), "openmx_drop_malformed_frames");
  EXPECT_EQ(metric_name("Send Coalesced Packets", "frames"), "openmx_send_coalesced_packets_frames");
  EXPECT_EQ(metric_name("Sleeps Ended by a Frame", "sleeps"), "openmx_ended_by_frame_sleeps");
}

TEST(metric_name, has_no_unit_where_times_are_counted) {
  EXPECT_EQ(metric_name("Rail Suspected", "times"), "openmx_rail_suspected");
}

TEST(metric_name, differs_for_all_counters_and_is_valid) {
  std::set<std::string> names;
  const auto counters = counter_values({});
  for (const auto& [label, value] : counters) {
    const std::string name = metric_name(label, counter_text(label)->unit);
    EXPECT_TRUE(names.insert(name).second) << name;
    for (const char c : name) EXPECT_TRUE(std::islower(c) || std::isdigit(c) || c == '_') << name;
    // OpenMetrics keeps these endings for samples.
    for (const char* const ending : {"_total", "_created", "_info", "_count", "_sum", "_bucket"})
      EXPECT_THAT(name, Not(EndsWith(ending)));
  }
  EXPECT_EQ(names.size(), counters.size());
}

TEST(metrics_text, openmetrics_has_units_and_an_end) {
  MetricsHost host{"h1", {}, 2};
  host.sources.push_back(source("eth0", 3, "job", [](runtime::SharedEndpoint& s) {
    s.counters.engine[protocol::Counter::bytes_sent] = 18446744073709551615U;
    s.view.snapshot.posted = 7;
  }));
  const std::string text = metrics_text(host, MetricsFormat::openmetrics);
  EXPECT_THAT(text,
              HasSubstr("# HELP openmx_sent_bytes Bytes Sent: bytes of the messages sent, without headers "
                        "and repetitions\n# TYPE openmx_sent_bytes counter\n# UNIT openmx_sent_bytes bytes\n"
                        "openmx_sent_bytes_total{host=\"h1\",link=\"eth0\",endpoint=\"3\",process=\"job\"} "
                        "18446744073709551615\n"));
  EXPECT_THAT(
      text,
      HasSubstr("openmx_posted_receives{host=\"h1\",link=\"eth0\",endpoint=\"3\",process=\"job\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("openmx_open_endpoints{host=\"h1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("openmx_unreadable_endpoints{host=\"h1\"} 2\n"));
  EXPECT_THAT(text, EndsWith("\n# EOF\n"));
}

// In this format the names in TYPE and HELP are those of the samples.
TEST(metrics_text, prometheus_names_samples_and_has_no_units) {
  MetricsHost host{"h1", {}, 0};
  host.sources.push_back(source("eth0", 0, "job", [](runtime::SharedEndpoint&) {}));
  const std::string text = metrics_text(host, MetricsFormat::prometheus);
  EXPECT_THAT(text, HasSubstr("# TYPE openmx_sent_bytes_total counter\nopenmx_sent_bytes_total{"));
  EXPECT_THAT(text, Not(HasSubstr("# UNIT")));
  EXPECT_THAT(text, Not(HasSubstr("# EOF")));
}

TEST(metrics_text, names_of_processes_cannot_add_lines_or_labels) {
  MetricsHost host{"h1", {}, 0};
  host.sources.push_back(source("eth0", 0, "a\"b\\c\nd\xED\xA0\x80", [](runtime::SharedEndpoint&) {}));
  const std::string text = metrics_text(host, MetricsFormat::openmetrics);
  EXPECT_THAT(text, HasSubstr(",process=\"a\\\"b\\\\c?d???\"} 0\n"));
}

TEST(metrics_text, another_board_of_an_endpoint_counts_what_its_link_does) {
  MetricsHost host{"h1", {}, 0};
  host.sources.push_back(source("eth1", 0, "job", [](runtime::SharedEndpoint& s) {
    s.counters.rail_of = 2;
    s.counters.link.bytes_sent = 5;
  }));
  const std::string text = metrics_text(host, MetricsFormat::openmetrics);
  EXPECT_THAT(text, HasSubstr("openmx_link_sent_bytes_total{host=\"h1\",link=\"eth1\",endpoint=\"0\","
                              "process=\"job\"} 5\n"));
  EXPECT_THAT(text, Not(HasSubstr("openmx_sent_bytes_total{")));
  EXPECT_THAT(text, Not(HasSubstr("openmx_known_peers{")));
  EXPECT_THAT(text, HasSubstr("openmx_open_endpoints{host=\"h1\"} 0\n"));
}

TEST(metrics_text, host_without_endpoints_says_so) {
  const std::string text = metrics_text({"h1", {}, 0}, MetricsFormat::openmetrics);
  EXPECT_THAT(text, HasSubstr("openmx_open_endpoints{host=\"h1\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("openmx_sent_bytes")));
}

}  // namespace

}  // namespace omx::tools
