// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "tools/json.h"

namespace omx::tools {

namespace {

// Breaks a sentence into lines. Those behind the first one begin with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  while (indent + text.size() > width) {
    std::size_t end = text.rfind(' ', width - indent);
    if (end == std::string_view::npos || end == 0) end = text.find(' ');
    if (end == std::string_view::npos) break;
    out += fmt::format("{}\n{:{}}", text.substr(0, end), "", indent);
    text.remove_prefix(end + 1);
  }
  return out + std::string(text);
}

const Path* extreme(const Cluster& cluster, const std::string& link, double (*value)(const Path&)) {
  const Path* found = nullptr;
  for (const Path& path : cluster.paths) {
    if (path.link != link || !path.reached || value(path) <= 0) continue;
    if (!found || value(path) > value(*found)) found = &path;
  }
  return found;
}

std::string pair_of(const Cluster& cluster, const Path* path) {
  return path ? fmt::format("{} to {}", shown(cluster.hosts[path->from].name),
                            shown(cluster.hosts[path->to].name))
              : "";
}

std::string link_line(const Cluster& cluster, const std::string& link) {
  std::uint64_t sent = 0, lost = 0;
  std::size_t measured = 0, reached = 0;
  for (const Path& path : cluster.paths) {
    if (path.link != link) continue;
    measured++;
    reached += path.reached;
    sent += path.sent;
    lost += path.lost();
  }
  if (measured == 0) return fmt::format("{}: not measured\n", link_text(link));
  const LinkMiddle middle = link_middle(cluster, link);
  const Path* slowest = extreme(cluster, link, [](const Path& p) { return p.half_round_trip_us; });
  const Path* thinnest = extreme(cluster, link, [](const Path& p) { return p.gbps > 0 ? 1 / p.gbps : 0; });
  std::string text = fmt::format("{}: {} of {} paths reached, {} of {} frames lost\n", link_text(link),
                                 reached, measured, lost, sent);
  if (slowest)
    text += fmt::format("  half round trip {:.1f} us in the middle, {:.1f} us at worst ({})\n",
                        middle.latency.median, slowest->half_round_trip_us, pair_of(cluster, slowest));
  if (thinnest)
    text += fmt::format("  bandwidth {:.2f} Gb/s in the middle, {:.2f} Gb/s at worst ({})\n",
                        middle.bandwidth.median, thinnest->gbps, pair_of(cluster, thinnest));
  return text;
}

std::size_t unfit_count(const std::vector<ClusterFinding>& findings) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [](const ClusterFinding& f) { return f.unfit(); }));
}

void host_json(JsonWriter& json, const Host& host) {
  json.object([&] {
    json.field("host", host.name);
    json.field("answers", host.failure.empty());
    if (!host.failure.empty()) json.field("failure", host.failure);
    json.field("clock_ahead_s", host.clock_ahead_s);
    json.object("facts", [&] {
      for (const auto& [key, value] : host.facts.fields) json.field(key, value);
    });
  });
}

void path_json(JsonWriter& json, const Cluster& cluster, const Path& path) {
  json.object([&] {
    json.field("from", cluster.hosts[path.from].name);
    json.field("to", cluster.hosts[path.to].name);
    json.field("link", path.link);
    json.field("measured", path.measured);
    json.field("reached", path.reached);
    json.field("frame_bytes", path.frame);
    json.field("frame_bytes_expected", path.expected);
    json.field("half_round_trip_us", path.half_round_trip_us);
    json.field("gbps", path.gbps);
    json.field("sent", path.sent);
    json.field("received", path.received);
    json.field("duplicates", path.duplicates);
    json.field("damaged", path.damaged);
  });
}

}  // namespace

bool is_fit(const std::vector<ClusterFinding>& findings) {
  return unfit_count(findings) == 0;
}

std::string cluster_text(const Cluster& cluster, const std::vector<ClusterFinding>& findings) {
  constexpr std::size_t kIndent = 13, kWidth = 110;
  const std::size_t unfit = unfit_count(findings);
  std::string text;
  if (unfit == 0) {
    text = fmt::format("fit: {} hosts\n", cluster.hosts.size());
  } else {
    text =
        fmt::format("not fit: {} hosts, {} finding{}\n", cluster.hosts.size(), unfit, unfit == 1 ? "" : "s");
  }
  for (const ClusterFinding& f : findings)
    text += fmt::format("  {:<11}{}\n", trouble_text(f.trouble),
                        wrapped(shown(f.text, std::string::npos), kIndent, kWidth));
  text += '\n';
  for (const std::string& link : cluster.links) text += link_line(cluster, link);
  if (cluster.again)
    text += fmt::format("measured again, with no other pair at work: {} path{}\n", cluster.again,
                        cluster.again == 1 ? "" : "s");
  return text;
}

std::string cluster_json(const Cluster& cluster, const std::vector<ClusterFinding>& findings) {
  JsonWriter json;
  json.object([&] {
    json.field("fit", is_fit(findings));
    json.array("findings", [&] {
      for (const ClusterFinding& f : findings) {
        json.object([&] {
          json.field("trouble", trouble_text(f.trouble));
          json.field("unfit", f.unfit());
          json.array("hosts", [&] {
            for (const std::size_t host : f.hosts) json.element(cluster.hosts[host].name);
          });
          json.field("text", f.text);
        });
      }
    });
    json.array("hosts", [&] {
      for (const Host& host : cluster.hosts) host_json(json, host);
    });
    json.array("paths", [&] {
      for (const Path& path : cluster.paths) path_json(json, cluster, path);
    });
  });
  return json.take();
}

}  // namespace omx::tools
