// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/check_hosts.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "tools/cluster/agent_process.h"
#include "tools/cluster/host_list.h"
#include "tools/cluster/report.h"
#include "tools/command.h"
#include "tools/host/file_replace.h"

namespace omx::tools {

namespace {

int not_checked(const std::string& why) {
  failed("check", "{}", why);
  return kNotChecked;
}

Result<ExamineOptions> examine_options(const CheckHostsOptions& options, std::size_t hosts) {
  ExamineOptions examine;
  for (const std::string_view link : list_words(options.links)) {
    if (link != "raw" && link != "udp" && link != "xdp")
      return fail(2, fmt::format("--links: there is no link \"{}\"; give some of raw,udp,xdp", shown(link)));
    examine.links.emplace_back(link);
  }
  if (examine.links.empty()) return fail(2, "--links: names no link; give some of raw,udp,xdp");
  examine.board = options.board;
  examine.frames = options.frames;
  examine.partners = options.sample ? options.sample : hosts <= kAllPairs ? 0 : kSampled;
  examine.pairs_most = options.pairs;
  examine.answer_limit = static_cast<TimeNs>(options.answer_seconds * 1e9);
  return examine;
}

}  // namespace

std::string own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "omx" : path.string();
}

int check_cluster(Cluster cluster, const CheckHostsOptions& options) {
  const auto examine = examine_options(options, cluster.hosts.size());
  if (!examine) return not_checked(examine.error().message);
  Limits limits;
  limits.loss = options.loss_percent / 100;
  limits.deviations = options.deviations;
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  cluster_examine(cluster, *examine, limits, [terminal](const std::string& line) {
    if (terminal) fmt::print(stderr, "\r\x1b[K{}", line);
  });
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  const auto findings = cluster_judge(cluster, limits);
  if (!options.heatmap.empty()) {
    if (const int error = file_replace(options.heatmap, cluster_heatmap(cluster)))
      return not_checked(fmt::format("--heatmap: {} cannot be written: {}; name another file",
                                     shown(options.heatmap, kPathShown), std::strerror(error)));
  }
  fmt::print("{}", options.json ? cluster_json(cluster, findings) : cluster_text(cluster, findings));
  std::fflush(stdout);
  bool answered = false;
  for (const Host& host : cluster.hosts) answered |= host.failure.empty();
  if (!answered) return not_checked("no host could be examined; see above");
  return is_fit(findings) ? kFit : kNotFit;
}

int check_hosts_run(const CheckHostsOptions& options) {
  const auto names = host_list(options.hosts);
  if (!names) return not_checked(names.error().message);
  // Before agents are started.
  if (!options.heatmap.empty() && is_special(options.heatmap))
    return not_checked(
        fmt::format("--heatmap: {} is not a regular file; name another", shown(options.heatmap, kPathShown)));
  if (const auto examine = examine_options(options, names->size()); !examine)
    return not_checked(examine.error().message);
  std::signal(SIGPIPE, SIG_IGN);  // an agent may end first
  const std::string program = options.program.empty() ? own_path() : options.program;
  Cluster cluster;
  for (const std::string& name : *names) {
    Host& host = cluster.hosts.emplace_back();
    host.name = name;
    host.start_again =
        [words = launch_words(options.launch, name, program)]() -> Result<std::unique_ptr<Channel>> {
      return AgentProcess::start(words);
    };
    auto agent = host.start_again();
    if (agent) {
      host.channel = std::move(*agent);
    } else {
      host.failure = agent.error().message;
    }
  }
  return check_cluster(std::move(cluster), options);
}

}  // namespace omx::tools
