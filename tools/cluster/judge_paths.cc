// SPDX-License-Identifier: BSD-3-Clause
// Findings about paths. Where most paths of a host are bad, the host is named instead of its paths.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tools/cluster/judge.h"

namespace omx::tools {

namespace {

constexpr double kMost = 0.6;  // share of a host's partners with which it must fail to be named

// The paths of one link with one kind of trouble, and how to speak of them.
struct Kind {
  Trouble trouble;
  std::function<bool(const Path&)> bad;
  std::function<double(const Path&)> weight;
  // The end of a sentence that began with "h1 to h2 by raw frames: ", or "h1 with 5 of 6 hosts by UDP: ".
  std::function<std::string(const std::vector<const Path*>&)> pair_text;
  std::function<std::string(const std::vector<const Path*>&, const Host&, std::size_t)> host_text;
};

// "eth0", or what else the user calls a NIC.
std::string interface_of(const Cluster& cluster, const Host& host) {
  const std::string_view name = host.facts.text(board_key(cluster, "interface"));
  return name.empty() ? "its interface" : std::string(name);
}

const Path& worst(const std::vector<const Path*>& paths, const std::function<double(const Path&)>& weight) {
  return **std::max_element(paths.begin(), paths.end(),
                            [&](const Path* a, const Path* b) { return weight(*a) < weight(*b); });
}

std::size_t other_end(const Path& path, std::size_t host) {
  return path.from == host ? path.to : path.from;
}

class LinkJudge {
 public:
  LinkJudge(const Cluster& cluster, const std::string& link, const Kind& kind)
      : cluster_(cluster), link_(link), kind_(kind) {
    for (const Path& path : cluster.paths) {
      if (path.link != link || !path.measured) continue;
      partners(path.from).insert(path.to);
      partners(path.to).insert(path.from);
      if (kind.bad(path)) bad_.push_back(&path);
    }
  }

  void run(std::vector<ClusterFinding>& findings) {
    while (!bad_.empty()) {
      const auto host = host_to_blame();
      if (!host) break;
      const auto theirs = take([&](const Path& path) { return path.from == *host || path.to == *host; });
      std::set<std::size_t> others;
      for (const Path* path : theirs) others.insert(other_end(*path, *host));
      add(findings, {*host}, theirs,
          fmt::format("{} with {} of {} hosts by {}: {}", cluster_.hosts[*host].name, others.size(),
                      partners(*host).size(), link_text(link_),
                      kind_.host_text(theirs, cluster_.hosts[*host], *host)));
    }
    while (!bad_.empty()) {
      const Path& first = *bad_.front();
      const auto pair = take([&](const Path& path) {
        return (path.from == first.from && path.to == first.to) ||
               (path.from == first.to && path.to == first.from);
      });
      const char* joint = pair.size() > 1 ? "and" : "to";
      add(findings, {first.from, first.to}, pair,
          fmt::format("{} {} {} by {}: {}", cluster_.hosts[first.from].name, joint,
                      cluster_.hosts[first.to].name, link_text(link_), kind_.pair_text(pair)));
    }
  }

 private:
  std::set<std::size_t>& partners(std::size_t host) {
    if (partners_.empty()) partners_.resize(cluster_.hosts.size());
    return partners_[host];
  }

  // Returns the host that has bad paths to most of its partners, and to the largest number of them.
  std::optional<std::size_t> host_to_blame() {
    std::optional<std::size_t> blamed;
    std::size_t most = 1;  // one bad pair says nothing about which end is to blame
    for (std::size_t host = 0; host < cluster_.hosts.size(); host++) {
      std::set<std::size_t> others;
      for (const Path* path : bad_)
        if (path->from == host || path->to == host) others.insert(other_end(*path, host));
      const auto needed = kMost * static_cast<double>(partners(host).size());
      if (others.size() <= most || static_cast<double>(others.size()) < needed) continue;
      blamed = host;
      most = others.size();
    }
    return blamed;
  }

  template <class Which>
  std::vector<const Path*> take(Which&& which) {
    std::vector<const Path*> taken;
    for (const Path* path : bad_)
      if (which(*path)) taken.push_back(path);
    std::erase_if(bad_, [&](const Path* path) { return which(*path); });
    return taken;
  }

  void add(std::vector<ClusterFinding>& findings, std::vector<std::size_t> hosts,
           const std::vector<const Path*>& paths, std::string text) {
    const double weight = kind_.weight(worst(paths, kind_.weight)) * static_cast<double>(paths.size());
    findings.push_back({kind_.trouble, std::move(hosts), std::move(text), weight});
  }

  const Cluster& cluster_;
  const std::string& link_;
  const Kind& kind_;
  std::vector<std::set<std::size_t>> partners_;
  std::vector<const Path*> bad_;
};

struct Frames {
  std::uint64_t sent = 0, lost = 0, duplicates = 0, damaged = 0;
  void add(const Path& path) {
    sent += path.sent;
    lost += path.lost();
    duplicates += path.duplicates;
    damaged += path.damaged;
  }
  double percent() const { return sent ? 100.0 * static_cast<double>(lost) / static_cast<double>(sent) : 0; }
};

// "12 of 10000 frames lost (0.12 %), 3 twice, 1 damaged"
std::string frames_text(const Frames& frames) {
  std::string text =
      fmt::format("{} of {} frames lost ({:.2f} %)", frames.lost, frames.sent, frames.percent());
  if (frames.duplicates) text += fmt::format(", {} came twice", frames.duplicates);
  if (frames.damaged) text += fmt::format(", {} damaged", frames.damaged);
  return text;
}

std::string cable_remedy(const std::string& interface, const std::string& host) {
  return fmt::format(
      "exchange the cable of {}, then try another port of the switch; ethtool -S {} counts errors", host,
      interface);
}

std::string duplicates_remedy(const Frames& all) {
  return all.duplicates ? "; look for a loop in the network, as frames came twice" : "";
}

Kind lossy_kind(const Cluster& cluster, const Limits& limits) {
  const auto bad = [limits](const Path& p) { return is_lossy(p, limits); };
  const auto weight = [](const Path& p) {
    return p.loss() +
           (p.sent ? static_cast<double>(p.duplicates + p.damaged) / static_cast<double>(p.sent) : 0);
  };
  const auto pair_text = [](const std::vector<const Path*>& paths) {
    Frames all;
    for (const Path* p : paths) all.add(*p);
    return frames_text(all) + "; look at the cables and switches between them" + duplicates_remedy(all);
  };
  const auto host_text = [&cluster](const std::vector<const Path*>& paths, const Host& host,
                                    std::size_t self) {
    Frames sent, received, all;
    for (const Path* p : paths) {
      (p->from == self ? sent : received).add(*p);
      all.add(*p);
    }
    const auto direction = [](const char* name, const Frames& frames) {
      return frames.sent ? fmt::format("{}: {}", name, frames_text(frames)) : std::string();
    };
    const std::string from = direction("sent", sent), to = direction("received", received);
    return fmt::format("{}{}{}; {}{}", from, from.empty() || to.empty() ? "" : "; ", to,
                       cable_remedy(interface_of(cluster, host), host.name), duplicates_remedy(all));
  };
  return {Trouble::lossy, bad, weight, pair_text, host_text};
}

Kind unreached_kind(const std::string& link) {
  const bool udp = link == "udp";
  const std::string where =
      udp ? "open the UDP ports of Open-MX in the firewall, and look at routes (ip route get)"
          : "look at the cable, the VLAN of the switch's port and its filters";
  const auto pair_text = [where](const std::vector<const Path*>&) {
    return "no frame is answered; " + where;
  };
  const auto host_text = [where](const std::vector<const Path*>&, const Host&, std::size_t) {
    return "no frame is answered; " + where;
  };
  return {Trouble::unreached, [](const Path& p) { return !p.reached; }, [](const Path&) { return 1.0; },
          pair_text, host_text};
}

Kind frame_size_kind(const Limits& limits) {
  const auto text = [](const std::vector<const Path*>& paths) {
    const Path& p = *paths.front();
    return fmt::format(
        "no frame of {} bytes passes, which both interfaces take, but one of {} bytes does; set the MTU of "
        "the "
        "switch's ports (jumbo frames)",
        p.expected, p.frame);
  };
  return {Trouble::frame_size, [limits](const Path& p) { return is_small(p, limits); },
          [](const Path& p) { return static_cast<double>(p.expected - p.frame); }, text,
          [text](const std::vector<const Path*>& paths, const Host&, std::size_t) { return text(paths); }};
}

constexpr const char* kSlowRemedy =
    "look at speed and duplex (ethtool), at the load of the host, and at omx check there";

Kind latency_kind(const LinkMiddle& middle, const Limits& limits) {
  const auto weight = [](const Path& p) { return p.half_round_trip_us; };
  const auto text = [middle, weight](const std::vector<const Path*>& paths) {
    return fmt::format("half round trip up to {:.1f} us, in the middle of the cluster {:.1f} us; {}",
                       worst(paths, weight).half_round_trip_us, middle.latency.median, kSlowRemedy);
  };
  return {Trouble::slow,
          [middle, limits](const Path& p) { return p.reached && is_slow_latency(p, middle, limits); }, weight,
          text,
          [text](const std::vector<const Path*>& paths, const Host&, std::size_t) { return text(paths); }};
}

Kind bandwidth_kind(const LinkMiddle& middle, const Limits& limits) {
  const auto weight = [](const Path& p) { return p.gbps > 0 ? 1 / p.gbps : 0; };
  const auto text = [middle, weight](const std::vector<const Path*>& paths) {
    return fmt::format("{:.2f} Gb/s or less, in the middle of the cluster {:.2f} Gb/s; {}",
                       worst(paths, [](const Path& p) { return p.gbps; }).gbps, middle.bandwidth.median,
                       kSlowRemedy);
  };
  return {Trouble::slow,
          [middle, limits](const Path& p) { return p.reached && is_slow_bandwidth(p, middle, limits); },
          weight, text,
          [text](const std::vector<const Path*>& paths, const Host&, std::size_t) { return text(paths); }};
}

}  // namespace

std::vector<ClusterFinding> paths_judge(const Cluster& cluster, const Limits& limits) {
  std::vector<ClusterFinding> findings;
  for (const std::string& link : cluster.links) {
    const LinkMiddle middle = link_middle(cluster, link);
    for (const Kind& kind : {unreached_kind(link), lossy_kind(cluster, limits), frame_size_kind(limits),
                             latency_kind(middle, limits), bandwidth_kind(middle, limits)})
      LinkJudge(cluster, link, kind).run(findings);
  }
  return findings;
}

}  // namespace omx::tools
