// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <ctime>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "tools/cluster/schedule.h"

namespace omx::tools {

namespace {

constexpr TimeNs kSecond = 1'000'000'000;
constexpr TimeNs kMeasureLimit = 10 * kSecond;  // of one direction
constexpr int kClockReadings = 3;

double wall_clock_s() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Runs `work` for 0 to `count` - 1, at most `width` at once.
template <class Work>
void in_parallel(std::size_t count, std::size_t width, Work&& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  const auto run = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  try {
    for (std::size_t i = 0; i < std::min(count, width); i++) threads.emplace_back(run);
  } catch (const std::system_error&) {
    // Fewer threads do the same work (ulimit -u).
  }
  if (threads.empty()) run();
  for (std::thread& thread : threads) thread.join();
}

class Examination {
 public:
  Examination(Cluster& cluster, const ExamineOptions& options) : cluster_(cluster), options_(options) {}

  // A command that starts an agent may fail by chance, as ssh does when a host gets many connections at once.
  // So where it ended without an answer, it is started once more.
  void hosts_ask() {
    std::vector<Host*> hosts;
    for (Host& host : cluster_.hosts) hosts.push_back(&host);
    in_parallel(hosts.size(), hosts.size(), [&](std::size_t i) { host_ask(*hosts[i]); });
    std::erase_if(hosts, [](const Host* host) {
      return host->failure.empty() || !host->channel || !host->channel->ended() || !host->start_again;
    });
    for (Host* host : hosts) {
      auto again = host->start_again();
      if (!again) continue;
      host->channel = std::move(*again);
      host->failure.clear();
    }
    in_parallel(hosts.size(), hosts.size(), [&](std::size_t i) { host_ask(*hosts[i]); });
  }

  // Measures both directions by all links that both hosts have.
  std::vector<Path> pair_measure(std::size_t a, std::size_t b) {
    std::vector<Path> paths;
    for (const std::string& link : options_.links) {
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        if (is_possible(from, to, link)) paths.push_back(path_measure(from, to, link));
      }
    }
    return paths;
  }

  Path path_measure(std::size_t from, std::size_t to, const std::string& link);

 private:
  std::optional<Record> ask(Host& host, const Record& request, std::string_view answer, TimeNs limit) {
    if (!host.failure.empty()) return std::nullopt;
    host.channel->send(request);
    auto got = host.channel->receive(clock_now() + limit);
    if (got && (got->verb == answer || got->verb == "refused")) return *got;
    host.failure = got ? "its agent is of another version; install the same on all hosts"
                       : fmt::format("{}; is it up, and can omx be started there?", got.error().message);
    return std::nullopt;
  }

  void host_ask(Host& host);
  void clock_ask(Host& host);
  bool is_possible(std::size_t from, std::size_t to, const std::string& link) const {
    const auto& ours = cluster_.hosts[from].links;
    const auto& theirs = cluster_.hosts[to].links;
    const auto a = ours.find(link), b = theirs.find(link);
    // Frames to a NIC's own address never come back.
    return a != ours.end() && b != theirs.end() && a->second.nic != b->second.nic;
  }

  Cluster& cluster_;
  const ExamineOptions& options_;
  std::atomic<std::uint32_t> token_ = 1;
};

void Examination::clock_ask(Host& host) {
  double best = 1e9;
  for (int i = 0; i < kClockReadings; i++) {
    const double before = wall_clock_s();
    const auto answer = ask(host, {"clock", {}}, "clock", options_.answer_limit);
    if (!answer) return;
    const double took = wall_clock_s() - before;
    if (took >= best) continue;
    best = took;
    host.clock_ahead_s = static_cast<double>(answer->number("ns")) * 1e-9 - (before + took / 2);
    host.clock_error_s = took / 2;
  }
}

void Examination::host_ask(Host& host) {
  auto facts = ask(host, {"facts", {}}, "facts", options_.answer_limit);
  if (!facts) return;
  host.facts = std::move(*facts);
  clock_ask(host);
  for (const std::string& link : options_.links) {
    const auto opened = ask(host, Record{"open", {}}.add("link", link).add("board", options_.board), "opened",
                            options_.answer_limit);
    if (!opened) return;
    if (opened->verb == "refused") {
      host.closed[link] = opened->text("error");
    } else {
      host.links[link] = {opened->number("nic"), opened->number("endpoint"), opened->number("mtu"),
                          opened->number("window")};
    }
  }
}

Path Examination::path_measure(std::size_t from, std::size_t to, const std::string& link) {
  Path path{.from = from, .to = to, .link = link};
  Host &sender = cluster_.hosts[from], &receiver = cluster_.hosts[to];
  const HostLink& target = receiver.links.at(link);
  const std::uint64_t token = token_++;
  const auto ready =
      ask(receiver, Record{"expect", {}}.add("link", link).add("token", token).add("frames", options_.frames),
          "ready", options_.answer_limit);
  if (!ready) return path;
  const auto measured = ask(sender,
                            Record{"measure", {}}
                                .add("link", link)
                                .add("token", token)
                                .add("frames", options_.frames)
                                .add("nic", target.nic)
                                .add("endpoint", target.endpoint)
                                .add("mtu", target.mtu)
                                .add("window", target.window)
                                .add("limit_ms", kMeasureLimit / 1'000'000),
                            "measured", options_.answer_limit + kMeasureLimit);
  if (!measured || measured->verb == "refused") return path;
  const auto counted = ask(receiver, Record{"count", {}}.add("link", link), "counted", options_.answer_limit);
  if (!counted || counted->verb == "refused") return path;
  path.measured = true;
  path.reached = measured->number("reached") != 0;
  path.frame = measured->number("frame");
  path.expected = measured->number("expected");
  path.half_round_trip_us = static_cast<double>(measured->number("half_ns")) / 1000;
  path.gbps = static_cast<double>(measured->number("bps")) / 1e9;
  path.sent = measured->number("sent");
  path.received = counted->number("received");
  path.duplicates = counted->number("duplicates");
  path.damaged = counted->number("damaged");
  return path;
}

// Takes the better of both measurements, as a busy moment may have caused the worse one.
void again_merge(Path& path, const Path& again) {
  if (!again.measured || !again.reached) return;
  Path merged = again;
  merged.sent += path.sent;
  merged.received += path.received;
  merged.duplicates += path.duplicates;
  merged.damaged += path.damaged;
  if (path.half_round_trip_us > 0 && again.half_round_trip_us > 0)
    merged.half_round_trip_us = std::min(path.half_round_trip_us, again.half_round_trip_us);
  merged.gbps = std::max(path.gbps, again.gbps);
  merged.frame = std::max(path.frame, again.frame);
  path = merged;
}

// Measures paths that look bad up to twice again. A pair alone is not disturbed by other pairs, which may
// share a switch or a machine with it.
void suspects_measure(Cluster& cluster, Examination& examination, const Limits& limits,
                      const std::function<void(const std::string&)>& progress) {
  constexpr std::size_t kAgainMost = 128;
  constexpr int kTries = 2;
  for (const std::string& link : cluster.links) {
    const LinkMiddle middle = link_middle(cluster, link);
    for (Path& path : cluster.paths) {
      if (path.link != link || !is_suspect(path, middle, limits)) continue;
      if (cluster.again == kAgainMost) return;
      progress(fmt::format("measuring {} to {} again", cluster.hosts[path.from].name,
                           cluster.hosts[path.to].name));
      for (int i = 0; i < kTries && is_suspect(path, middle, limits); i++)
        again_merge(path, examination.path_measure(path.from, path.to, path.link));
      cluster.again++;
    }
  }
}

}  // namespace

void cluster_examine(Cluster& cluster, const ExamineOptions& options, const Limits& limits,
                     const std::function<void(const std::string&)>& progress) {
  Examination examination(cluster, options);
  cluster.links = options.links;
  cluster.board = options.board;
  examination.hosts_ask();
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < cluster.hosts.size(); i++)
    if (cluster.hosts[i].failure.empty()) present.push_back(i);
  progress(fmt::format("{} of {} hosts answer", present.size(), cluster.hosts.size()));
  const auto rounds = schedule_rounds(present.size(), options.partners);
  for (std::size_t i = 0; i < rounds.size(); i++) {
    std::vector<std::vector<Path>> found(rounds[i].size());
    in_parallel(rounds[i].size(), options.pairs_most ? options.pairs_most : rounds[i].size(),
                [&](std::size_t pair) {
                  const auto [a, b] = rounds[i][pair];
                  found[pair] = examination.pair_measure(present[a], present[b]);
                });
    for (auto& paths : found) cluster.paths.insert(cluster.paths.end(), paths.begin(), paths.end());
    progress(fmt::format("round {} of {} is done", i + 1, rounds.size()));
  }
  suspects_measure(cluster, examination, limits, progress);
  for (Host& host : cluster.hosts)
    if (host.channel) host.channel->close();
}

}  // namespace omx::tools
