// SPDX-License-Identifier: BSD-3-Clause
// Findings about what hosts say of themselves: what differs from the others, and what is there twice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "tools/cluster/judge.h"

namespace omx::tools {

namespace {

using Hosts = std::vector<std::size_t>;

std::vector<std::pair<std::string, Hosts>> values_of(const Cluster& cluster, const std::string& key) {
  std::map<std::string, Hosts> by_value;
  for (std::size_t i = 0; i < cluster.hosts.size(); i++) {
    const Host& host = cluster.hosts[i];
    if (!host.facts.verb.empty()) by_value[std::string(host.facts.text(key))].push_back(i);
  }
  std::vector<std::pair<std::string, Hosts>> values(by_value.begin(), by_value.end());
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return values;
}

std::string value_text(const std::string& value) {
  return value.empty() ? "not set" : shown(value);
}

// Names the hosts whose value differs from that of most hosts. Where no value has more than half of them, it
// names all groups.
void differing_add(const Cluster& cluster, const std::string& key, const std::string& what, Trouble trouble,
                   const std::string& remedy, std::vector<ClusterFinding>& findings) {
  const auto values = values_of(cluster, key);
  if (values.size() < 2) return;
  std::size_t all = 0;
  for (const auto& [value, hosts] : values) all += hosts.size();
  const auto& [usual, usual_hosts] = values.front();
  if (2 * usual_hosts.size() > all) {
    for (std::size_t i = 1; i < values.size(); i++) {
      const auto& [value, hosts] = values[i];
      findings.push_back(
          {trouble, hosts,
           fmt::format("{}: {} is {}, on the other {} hosts {}; {}", hosts_text(cluster, hosts), what,
                       value_text(value), usual_hosts.size(), value_text(usual), remedy),
           static_cast<double>(hosts.size())});
    }
    return;
  }
  std::string groups;
  Hosts concerned;
  for (const auto& [value, hosts] : values) {
    groups +=
        fmt::format("{}{} on {}", groups.empty() ? "" : ", ", value_text(value), hosts_text(cluster, hosts));
    concerned.insert(concerned.end(), hosts.begin(), hosts.end());
  }
  findings.push_back({trouble, concerned, fmt::format("{} differs: {}; {}", what, groups, remedy), 0});
}

void twins_add(const Cluster& cluster, const std::string& key, const std::string& what,
               const std::string& remedy, std::vector<ClusterFinding>& findings) {
  for (const auto& [value, hosts] : values_of(cluster, key)) {
    if (value.empty() || hosts.size() < 2) continue;
    findings.push_back(
        {Trouble::twin, hosts,
         fmt::format("{} have the same {} {}; {}", hosts_text(cluster, hosts), what, shown(value), remedy),
         static_cast<double>(hosts.size())});
  }
}

std::vector<std::string> keys_of(const Cluster& cluster, std::string_view prefix) {
  std::map<std::string, bool> keys;
  for (const Host& host : cluster.hosts)
    for (const auto& [key, value] : host.facts.fields)
      if (key.starts_with(prefix)) keys[key] = true;
  std::vector<std::string> names;
  for (const auto& [key, there] : keys) names.push_back(key);
  return names;
}

// A verdict of `omx check` counts where it is not that of all hosts.
void tuning_add(const Cluster& cluster, std::vector<ClusterFinding>& findings) {
  constexpr std::string_view kVerdict = "verdict.", kBetter = "could be better";
  std::string everywhere;
  for (const std::string& key : keys_of(cluster, kVerdict)) {
    const std::string subject = key.substr(kVerdict.size());
    if (subject.ends_with(" MTU")) continue;  // compared by itself
    Hosts better, others;
    for (std::size_t i = 0; i < cluster.hosts.size(); i++) {
      const Host& host = cluster.hosts[i];
      if (host.facts.verb.empty()) continue;
      (host.facts.text(key) == kBetter ? better : others).push_back(i);
    }
    if (better.empty()) continue;
    if (others.empty()) {
      everywhere += fmt::format("{}{}", everywhere.empty() ? "" : ", ", subject);
      continue;
    }
    const Record& facts = cluster.hosts[better.front()].facts;
    const std::string_view command = facts.text("remedy." + subject);
    const bool tunable = !facts.text("tunable." + subject).empty();
    findings.push_back({Trouble::differs, better,
                        fmt::format("{}: {} could be better ({}), on {} other hosts it is not so; {}",
                                    hosts_text(cluster, better), subject,
                                    shown(facts.text("value." + subject)), others.size(),
                                    tunable           ? "omx tune improves it"
                                    : command.empty() ? "omx check there says more"
                                                      : shown(command, kPathShown)),
                        static_cast<double>(better.size())});
  }
  if (!everywhere.empty())
    findings.push_back(
        {Trouble::note, {}, fmt::format("all hosts could be better at {}; omx check says how", everywhere)});
}

void clocks_add(const Cluster& cluster, const Limits& limits, std::vector<ClusterFinding>& findings) {
  std::vector<double> all;
  for (const Host& host : cluster.hosts)
    if (!host.facts.verb.empty()) all.push_back(host.clock_ahead_s);
  const double middle = middle_of(all).median;
  for (std::size_t i = 0; i < cluster.hosts.size(); i++) {
    const Host& host = cluster.hosts[i];
    const double ahead = host.clock_ahead_s - middle;
    if (host.facts.verb.empty() || std::abs(ahead) <= limits.clock_s + host.clock_error_s) continue;
    findings.push_back(
        {Trouble::clock,
         {i},
         fmt::format("{}: its clock is {:.1f} s {} that of the others; let chrony or NTP set it", host.name,
                     std::abs(ahead), ahead > 0 ? "ahead of" : "behind"),
         std::abs(ahead)});
  }
}

// A link that some hosts have and others lack. A link that no host has is worth a note, unless there is no
// other.
void links_add(const Cluster& cluster, std::vector<ClusterFinding>& findings) {
  const bool any = std::any_of(cluster.hosts.begin(), cluster.hosts.end(),
                               [](const Host& host) { return !host.links.empty(); });
  for (const std::string& link : cluster.links) {
    Hosts open;
    std::map<std::string, Hosts> closed;
    for (std::size_t i = 0; i < cluster.hosts.size(); i++) {
      const Host& host = cluster.hosts[i];
      if (host.links.contains(link)) open.push_back(i);
      if (const auto why = host.closed.find(link); why != host.closed.end()) closed[why->second].push_back(i);
    }
    for (const auto& [why, hosts] : closed) {
      findings.push_back(
          {any && open.empty() ? Trouble::note : Trouble::link, hosts,
           fmt::format("{}: {} cannot be used: {}", hosts_text(cluster, hosts), link_text(link), why),
           static_cast<double>(hosts.size())});
    }
  }
}

void errors_add(const Cluster& cluster, std::vector<ClusterFinding>& findings) {
  for (std::size_t i = 0; i < cluster.hosts.size(); i++) {
    for (const auto& [key, value] : cluster.hosts[i].facts.fields) {
      if (key != "error") continue;
      findings.push_back(
          {Trouble::link, {i}, fmt::format("{}: {}", cluster.hosts[i].name, shown(value, kPathShown))});
    }
  }
}

}  // namespace

std::vector<ClusterFinding> facts_judge(const Cluster& cluster, const Limits& limits) {
  std::vector<ClusterFinding> findings;
  twins_add(cluster, board_key(cluster, "mac"), "MAC address",
            "give each NIC its own (ip link set dev IF address MAC), or name the host once", findings);
  twins_add(
      cluster, "name", "host name",
      "give each host its own (hostnamectl set-hostname NAME, or OMX_HOSTNAME), as peers are found by it",
      findings);
  errors_add(cluster, findings);
  links_add(cluster, findings);
  clocks_add(cluster, limits, findings);
  differing_add(cluster, board_key(cluster, "mtu"), "the MTU", Trouble::differs,
                "set the same on all hosts (ip link set dev IF mtu N)", findings);
  differing_add(cluster, "version", "the version of Open-MX", Trouble::differs,
                "install the same on all hosts", findings);
  differing_add(cluster, board_key(cluster, "speed"), "the speed of the interface in Mb/s", Trouble::differs,
                "look at the cable and at the port of the switch (ethtool)", findings);
  differing_add(cluster, board_key(cluster, "running"), "whether the interface has carrier (1)",
                Trouble::differs, "look at the cable", findings);
  for (const std::string& key : keys_of(cluster, "setting."))
    differing_add(cluster, key, key.substr(key.find('.') + 1), Trouble::differs,
                  "use the same environment and /etc/open-mx/open-mx.conf on all hosts", findings);
  tuning_add(cluster, findings);
  differing_add(cluster, board_key(cluster, "driver"), "the driver", Trouble::note,
                "their NICs may need other settings", findings);
  differing_add(cluster, "kernel", "the kernel", Trouble::note, "install the same if results differ, too",
                findings);
  differing_add(cluster, "processor", "the kind of processor", Trouble::note, "", findings);
  return findings;
}

}  // namespace omx::tools
