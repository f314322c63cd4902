// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/check_job.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "base/host_name.h"
#include "base/text.h"
#include "tools/cluster/agent.h"
#include "tools/cluster/agent_process.h"
#include "tools/cluster/meeting.h"
#include "tools/command.h"

namespace omx::tools {

namespace {

Record hello(const Job& job) {
  return Record{"hello", {}}.add("name", host_name("")).add("takes_part", std::uint64_t{job.first_of_host});
}

int rank_serve(const std::string& meet, const Job& job, TimeNs deadline) {
  auto seat = meeting_join(meet, job, deadline);
  if (!seat) {
    failed("check", "rank {} on {}: {}", job.rank, host_name("?"), seat.error().message);
    return kNotChecked;
  }
  (*seat)->send(hello(job));
  return job.first_of_host ? agent_run(**seat) : 0;
}

// Ranks of one name are told apart by their numbers, as the name may be a mistake.
void names_set_apart(std::vector<Host>& hosts, const std::vector<std::size_t>& ranks) {
  std::vector<std::string> names;
  for (const Host& host : hosts) names.push_back(host.name);
  for (std::size_t i = 0; i < hosts.size(); i++)
    if (std::count(names.begin(), names.end(), names[i]) > 1)
      hosts[i].name += fmt::format(" (rank {})", ranks[i]);
}

}  // namespace

int check_job_run(const std::string& meet, const CheckHostsOptions& options) {
  const auto job = job_find([](const char* name) { return std::getenv(name); });
  const auto stop = [](const std::string& why) {
    failed("check", "{}", why);
    return kNotChecked;
  };
  if (!job) return stop(job.error().message);
  const TimeNs deadline = clock_now() + static_cast<TimeNs>(options.answer_seconds * 1e9);
  if (job->rank != 0) return rank_serve(meet, *job, deadline);
  if (job->size < 2) return stop("--job: the job has one rank; start one on each host");
  std::signal(SIGPIPE, SIG_IGN);
  // Before there are threads: the agent of this host ends with the thread that starts it.
  auto own = AgentProcess::start({own_path(), "check", "--agent"});
  if (!own) return stop(own.error().message);
  const auto meeting = Meeting::open(meet, *job);
  if (!meeting) return stop(meeting.error().message);
  Cluster cluster;
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < job->size; rank++) {
    Host host;
    host.name = rank == 0 ? host_name("rank 0") : fmt::format("rank {}", rank);
    if (rank == 0) {
      host.channel = std::move(*own);
    } else {
      host.channel = (*meeting)->channel(rank);
      if (const auto greeting = host.channel->receive(deadline)) {
        if (greeting->number("takes_part") == 0) continue;
        host.name = shown(greeting->text("name"));
      } else {
        host.failure = "it does not come to the meeting; does its host share the folder of --meet?";
      }
    }
    cluster.hosts.push_back(std::move(host));
    ranks.push_back(rank);
  }
  if (cluster.hosts.size() < 2) return stop("--job: all ranks are on one host; start one on each host");
  names_set_apart(cluster.hosts, ranks);
  return check_cluster(std::move(cluster), options);
}

}  // namespace omx::tools
