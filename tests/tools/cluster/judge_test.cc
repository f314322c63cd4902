// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tools/cluster/report.h"

namespace omx::tools {

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A cluster of hosts h1, h2 ... that are all fit and alike. All pairs are measured by raw frames.
Cluster cluster_of(std::size_t count) {
  Cluster cluster;
  cluster.links = {"raw"};
  for (std::size_t i = 0; i < count; i++) {
    Host& host = cluster.hosts.emplace_back();
    host.name = "h" + std::to_string(i + 1);
    host.links["raw"] = {i + 1, 0, 9000, 0};
    host.facts.verb = "facts";
    host.facts.add("name", host.name)
        .add("version", "1")
        .add("board0.mac", host.name)
        .add("board0.mtu", "9000");
    host.facts.add("setting.OMX_LINK", "auto").add("board0.interface", "eth0");
  }
  for (std::size_t a = 0; a < count; a++) {
    for (std::size_t b = 0; b < count; b++) {
      if (a == b) continue;
      const double wobble = 0.1 * static_cast<double>((a + b) % 3);
      cluster.paths.push_back(
          {a, b, "raw", true, true, 9014, 9014, 10 + wobble, 9 - wobble, 10000, 10000, 0, 0});
    }
  }
  return cluster;
}

template <class Change>
void paths_change(Cluster& cluster, std::size_t host, Change&& change) {
  for (Path& path : cluster.paths)
    if (path.from == host || path.to == host) change(path);
}

void fact_change(Host& host, std::string_view key, const std::string& value) {
  for (auto& [name, was] : host.facts.fields)
    if (name == key) was = value;
}

ClusterFinding only_finding(const Cluster& cluster, const Limits& limits = {}) {
  const auto findings = cluster_judge(cluster, limits);
  EXPECT_EQ(findings.size(), 1U) << cluster_text(cluster, findings);
  return findings.empty() ? ClusterFinding{} : findings[0];
}

std::ptrdiff_t suspects_of(const Cluster& cluster) {
  const LinkMiddle middle = link_middle(cluster, "raw");
  return std::count_if(cluster.paths.begin(), cluster.paths.end(),
                       [&](const Path& path) { return is_suspect(path, middle, {}); });
}

TEST(cluster_judge, says_nothing_about_a_fit_cluster) {
  const Cluster cluster = cluster_of(5);
  EXPECT_THAT(cluster_judge(cluster, {}), IsEmpty());
  EXPECT_EQ(suspects_of(cluster), 0);
}

TEST(cluster_judge, names_the_host_with_the_bad_cable) {
  Cluster cluster = cluster_of(6);
  paths_change(cluster, 2, [](Path& path) { path.received -= path.from == 2 ? 100 : 50; });
  const ClusterFinding finding = only_finding(cluster);
  EXPECT_EQ(finding.trouble, Trouble::lossy);
  EXPECT_THAT(finding.hosts, testing::ElementsAre(2));
  EXPECT_THAT(finding.text,
              HasSubstr("h3 with 5 of 5 hosts by raw frames: sent: 500 of 50000 frames lost (1.00 %)"));
  EXPECT_THAT(finding.text, HasSubstr("received: 250 of 50000"));
  EXPECT_THAT(finding.text, HasSubstr("exchange the cable of h3"));
}

TEST(cluster_judge, names_the_pair_where_no_host_is_to_blame) {
  Cluster cluster = cluster_of(6);
  for (Path& path : cluster.paths)
    if (path.from == 1 && path.to == 4) path.received -= 7;
  const ClusterFinding finding = only_finding(cluster);
  EXPECT_THAT(finding.hosts, testing::ElementsAre(1, 4));
  EXPECT_THAT(finding.text, HasSubstr("h2 to h5 by raw frames: 7 of 10000 frames lost (0.07 %)"));
}

TEST(cluster_judge, allows_the_loss_that_the_user_allows) {
  Cluster cluster = cluster_of(4);
  cluster.paths[0].received -= 10;
  Limits limits;
  limits.loss = 0.001;
  EXPECT_THAT(cluster_judge(cluster, limits), IsEmpty());
  cluster.paths[0].received--;
  EXPECT_THAT(only_finding(cluster, limits).text, HasSubstr("11 of 10000"));
}

TEST(cluster_judge, tells_duplicates_and_damage) {
  Cluster cluster = cluster_of(4);
  cluster.paths[0].duplicates = 3;
  cluster.paths[0].damaged = 2;
  EXPECT_THAT(only_finding(cluster).text, HasSubstr("3 came twice, 2 damaged; look at the cables"));
  EXPECT_THAT(only_finding(cluster).text, HasSubstr("loop"));
}

TEST(cluster_judge, tells_what_is_not_reached) {
  Cluster cluster = cluster_of(4);
  paths_change(cluster, 0, [](Path& path) { path = {path.from, path.to, "raw", true}; });
  const ClusterFinding finding = only_finding(cluster);
  EXPECT_EQ(finding.trouble, Trouble::unreached);
  EXPECT_THAT(finding.text, HasSubstr("h1 with 3 of 3 hosts"));
  EXPECT_EQ(suspects_of(cluster), 6);
}

TEST(cluster_judge, says_nothing_of_paths_that_were_not_measured) {
  Cluster cluster = cluster_of(4);
  paths_change(cluster, 0, [](Path& path) { path = {path.from, path.to, "raw"}; });
  cluster.hosts[0].failure = "its agent ended";
  const ClusterFinding finding = only_finding(cluster);
  EXPECT_EQ(finding.trouble, Trouble::dead);
  EXPECT_THAT(finding.text, HasSubstr("h1 could not be examined: its agent ended"));
}

TEST(cluster_judge, tells_frames_that_do_not_pass) {
  Cluster cluster = cluster_of(4);
  paths_change(cluster, 3, [](Path& path) { path.frame = 1514; });
  const ClusterFinding finding = only_finding(cluster);
  EXPECT_EQ(finding.trouble, Trouble::frame_size);
  EXPECT_THAT(finding.text,
              HasSubstr("no frame of 9014 bytes passes, which both interfaces take, but one of 1514"));
}

TEST(cluster_judge, tells_outliers_from_the_usual_spread) {
  Cluster cluster = cluster_of(6);
  paths_change(cluster, 5, [](Path& path) { path.half_round_trip_us = 40; });
  EXPECT_EQ(suspects_of(cluster), 10);
  ClusterFinding finding = only_finding(cluster);
  EXPECT_EQ(finding.trouble, Trouble::slow);
  EXPECT_THAT(finding.text, HasSubstr("h6 with 5 of 5 hosts by raw frames: half round trip up to 40.0 us"));

  Limits unjudged;
  unjudged.deviations = 0;
  EXPECT_THAT(cluster_judge(cluster, unjudged), IsEmpty());

  cluster = cluster_of(6);
  paths_change(cluster, 5, [](Path& path) { path.gbps = 0.9; });
  finding = only_finding(cluster);
  EXPECT_THAT(finding.text, HasSubstr("0.90 Gb/s or less, in the middle of the cluster 8.80 Gb/s"));

  // A wide spread does not hide a path of a tenth of the bandwidth.
  cluster = cluster_of(6);
  for (std::size_t i = 0; i < cluster.paths.size(); i++)
    cluster.paths[i].gbps = 4 + 0.1 * static_cast<double>(i % 10);
  paths_change(cluster, 5, [](Path& path) { path.gbps = 0.4; });
  EXPECT_EQ(only_finding(cluster).trouble, Trouble::slow);

  // Where all differ, none is an outlier.
  cluster = cluster_of(6);
  for (std::size_t i = 0; i < cluster.paths.size(); i++)
    cluster.paths[i].half_round_trip_us = 10 + 3 * static_cast<double>(i);
  EXPECT_THAT(cluster_judge(cluster, {}), IsEmpty());
}

TEST(cluster_judge, does_not_call_a_lossy_path_slow) {
  Cluster cluster = cluster_of(6);
  paths_change(cluster, 5, [](Path& path) {
    path.received -= 5000;
    path.half_round_trip_us = 400;
    path.gbps = 0.1;
    path.frame = 1514;
  });
  EXPECT_EQ(only_finding(cluster).trouble, Trouble::lossy);
}

TEST(cluster_judge, blames_small_frames_on_the_mtu_alone) {
  Cluster cluster = cluster_of(6);
  fact_change(cluster.hosts[5], "board0.mtu", "1500");
  paths_change(cluster, 5, [](Path& path) {
    path.frame = path.expected = 1514;
    path.gbps = 0.9;
  });
  EXPECT_EQ(only_finding(cluster).trouble, Trouble::differs);
}

TEST(cluster_judge, names_the_hosts_that_differ) {
  const std::pair<const char*, const char*> cases[] = {
      {"version", "h2: the version of Open-MX is 0, on the other 3 hosts 1"},
      {"board0.mtu", "h2: the MTU is 0, on the other 3 hosts 9000"},
      {"setting.OMX_LINK", "h2: OMX_LINK is 0, on the other 3 hosts auto"}};
  for (const auto& [key, text] : cases) {
    Cluster cluster = cluster_of(4);
    fact_change(cluster.hosts[1], key, "0");
    const ClusterFinding finding = only_finding(cluster);
    EXPECT_EQ(finding.trouble, Trouble::differs);
    EXPECT_THAT(finding.text, HasSubstr(text));
  }
}

TEST(cluster_judge, names_all_groups_without_a_majority) {
  Cluster cluster = cluster_of(4);
  for (const std::size_t i : {0U, 2U}) fact_change(cluster.hosts[i], "version", "2");
  EXPECT_THAT(only_finding(cluster).text,
              HasSubstr("the version of Open-MX differs: 1 on h2 and h4, 2 on h1 and h3"));
}

TEST(cluster_judge, names_twins) {
  Cluster cluster = cluster_of(4);
  fact_change(cluster.hosts[3], "board0.mac", "h1");
  EXPECT_THAT(only_finding(cluster).text, HasSubstr("h1 and h4 have the same MAC address h1"));
  cluster = cluster_of(4);
  fact_change(cluster.hosts[3], "name", "h1");
  EXPECT_THAT(only_finding(cluster).text, HasSubstr("h1 and h4 have the same host name h1"));
}

TEST(cluster_judge, compares_the_board_that_is_examined) {
  Cluster cluster = cluster_of(4);
  fact_change(cluster.hosts[3], "board0.mac", "h1");
  cluster.board = 1;
  EXPECT_THAT(cluster_judge(cluster, {}), IsEmpty());
  for (Host& host : cluster.hosts) host.facts.add("board1.mac", "02:00:00:00:00:01");
  EXPECT_THAT(only_finding(cluster).text, HasSubstr("h1, h2, h3 and h4 have the same MAC address"));
}

TEST(cluster_judge, names_clocks_beyond_their_uncertainty) {
  Cluster cluster = cluster_of(4);
  cluster.hosts[1].clock_ahead_s = -7200;
  EXPECT_THAT(only_finding(cluster).text, HasSubstr("h2: its clock is 7200.0 s behind"));
  cluster.hosts[1].clock_error_s = 7200;
  EXPECT_THAT(cluster_judge(cluster, {}), IsEmpty());
}

TEST(cluster_judge, names_links_that_only_some_hosts_have) {
  Cluster cluster = cluster_of(4);
  cluster.hosts[1].links.clear();
  cluster.hosts[1].closed["raw"] = "CAP_NET_RAW is missing";
  EXPECT_EQ(only_finding(cluster).trouble, Trouble::link);
  for (Host& host : cluster.hosts) {
    host.links.clear();
    host.closed["raw"] = "CAP_NET_RAW is missing";
  }
  cluster.paths.clear();
  const ClusterFinding finding = only_finding(cluster);
  EXPECT_TRUE(finding.unfit());  // nothing could be measured
  EXPECT_THAT(finding.text,
              HasSubstr("h1, h2, h3 and h4: raw frames cannot be used: CAP_NET_RAW is missing"));
  cluster.links.push_back("udp");
  for (Host& host : cluster.hosts) host.links["udp"] = {};
  EXPECT_EQ(only_finding(cluster).trouble, Trouble::note);
}

TEST(cluster_judge, compares_what_omx_check_says) {
  Cluster cluster = cluster_of(4);
  for (Host& host : cluster.hosts) host.facts.add("verdict.governor", "ok");
  fact_change(cluster.hosts[2], "verdict.governor", "could be better");
  cluster.hosts[2].facts.add("value.governor", "powersave").add("tunable.governor", "1");
  EXPECT_THAT(
      only_finding(cluster).text,
      HasSubstr(
          "h3: governor could be better (powersave), on 3 other hosts it is not so; omx tune improves it"));
  for (Host& host : cluster.hosts) fact_change(host, "verdict.governor", "could be better");
  EXPECT_EQ(only_finding(cluster).trouble, Trouble::note);
}

TEST(cluster_judge, puts_the_worst_first) {
  Cluster cluster = cluster_of(6);
  fact_change(cluster.hosts[1], "version", "0");
  paths_change(cluster, 2, [](Path& path) { path.received -= 100; });
  cluster.hosts[3].failure = "its agent ended";
  const auto findings = cluster_judge(cluster, {});
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].trouble, Trouble::dead);
  EXPECT_EQ(findings[1].trouble, Trouble::lossy);
  EXPECT_EQ(findings[2].trouble, Trouble::differs);
  EXPECT_FALSE(is_fit(findings));
}

TEST(hosts_text, names_few_and_counts_the_others) {
  const Cluster cluster = cluster_of(7);
  EXPECT_EQ(hosts_text(cluster, {0, 1, 2, 3, 4}), "h1, h2, h3, h4 and h5");
  EXPECT_EQ(hosts_text(cluster, {0, 1, 2, 3, 4, 5}), "h1, h2, h3, h4 and 2 others");
}

TEST(middle_of, is_not_moved_by_outliers) {
  const Middle middle = middle_of({1, 2, 3, 4, 1e9});
  EXPECT_DOUBLE_EQ(middle.median, 3);
  EXPECT_DOUBLE_EQ(middle.deviation, 1.4826);
  EXPECT_DOUBLE_EQ(middle_of({}).median, 0);
}

TEST(cluster_heatmap, has_a_cell_for_each_path_and_escapes_names) {
  Cluster cluster = cluster_of(3);
  cluster.hosts[0].name = "<a&b>";
  cluster.paths[0].reached = false;
  const std::string picture = cluster_heatmap(cluster);
  std::size_t cells = 0;
  for (std::size_t at = 0; (at = picture.find("<title>", at)) != std::string::npos; at++) cells++;
  EXPECT_EQ(cells, 3 * cluster.paths.size());
  EXPECT_THAT(picture, HasSubstr("&lt;a&amp;b>"));
  EXPECT_THAT(picture, Not(HasSubstr("<a&")));
  EXPECT_THAT(picture, HasSubstr("#202020"));
}

// A host of the cluster may be in other hands.
TEST(cluster_text, shows_no_control_characters_of_agents) {
  Cluster cluster = cluster_of(3);
  cluster.hosts[1].closed["udp"] = "\x1b[2J\nfit: 3 hosts";
  cluster.links.push_back("udp");
  cluster.hosts[2].name = "h3\x1b[2J";
  cluster.paths.front().half_round_trip_us = 11;
  for (Path& path : cluster.paths)
    if (path.from == 2) path.half_round_trip_us = 12;
  const std::string text = cluster_text(cluster, cluster_judge(cluster, {}));
  EXPECT_THAT(text, HasSubstr("UDP cannot be used: ?[2J?fit: 3 hosts"));
  EXPECT_THAT(text, HasSubstr("12.0 us at worst (h3?[2J to"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(cluster_json, holds_findings_hosts_and_paths) {
  Cluster cluster = cluster_of(3);
  cluster.hosts[1].failure = "it says \"no\"";
  const std::string json = cluster_json(cluster, cluster_judge(cluster, {}));
  EXPECT_THAT(json, HasSubstr("\"fit\": false"));
  EXPECT_THAT(json, HasSubstr("it says \\\"no\\\""));
  EXPECT_THAT(json, HasSubstr("\"from\": \"h3\", \"to\": \"h2\", \"link\": \"raw\""));
}

}  // namespace

}  // namespace omx::tools
