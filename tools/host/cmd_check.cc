// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/cmd_check.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <new>

#include "tools/cluster/agent.h"
#include "tools/cluster/agent_facts.h"
#include "tools/cluster/check_hosts.h"
#include "tools/cluster/check_job.h"
#include "tools/cluster/host_list.h"
#include "tools/host/check_print.h"
#include "tuning/ethtool_kernel.h"

namespace omx::tools {

namespace {

struct CheckOptions {
  std::vector<std::string> interfaces;
  bool json = false;
  bool job = false;
  bool agent = false;
  std::string meet = ".";
  std::vector<CLI::Option*> measuring;  // options that mean nothing for one host
  CheckHostsOptions cluster;
};

// An internal error says nothing about the hosts, so its status differs from that of an unfit cluster.
int cluster_run(const CheckOptions& options) {
  try {
    return options.job ? check_job_run(options.meet, options.cluster) : check_hosts_run(options.cluster);
  } catch (const std::bad_alloc&) {
    failed("check", "out of memory; free some or raise the limit (ulimit -v)");
  } catch (const std::exception& e) {
    failed("check", "internal error: {}; please report it", e.what());
  }
  return kNotChecked;
}

int check_run(CheckOptions& options) {
  options.cluster.json = options.json;
  const bool cluster = options.agent || options.job || !options.cluster.hosts.empty();
  for (const CLI::Option* option : options.measuring) {
    if (cluster || option->count() == 0) continue;
    failed("check", "{} needs --hosts or --job", option->get_name());
    return kUsage;
  }
  if (options.agent) return agent_run();
  if (cluster) return cluster_run(options);
  const auto drivers = tuning::ethtool_of_kernel();
  const auto report = tuning_report_find({*drivers, {}}, options.interfaces);
  if (!report) return failed("check", "{}", report.error().message);
  fmt::print("{}", options.json ? check_json(*report) : check_text(*report));
  return kOk;
}

void launch_options_add(CLI::App& app, CheckOptions& options, CLI::Option* hosts, CLI::Option* job) {
  CheckHostsOptions& cluster = options.cluster;
  app.add_option("--launch", cluster.launch, "command that starts an agent; {host} and {omx} are replaced")
      ->capture_default_str()
      ->needs(hosts);
  app.add_option("--program", cluster.program, "omx on the hosts (default: the path that it has here)")
      ->needs(hosts);
  app.add_option("--meet", options.meet, "folder that all hosts of the job share, for --job")
      ->capture_default_str()
      ->needs(job);
}

// Adds the options that both forms have.
void measure_options_add(CLI::App& app, CheckOptions& options) {
  CheckHostsOptions& cluster = options.cluster;
  const CLI::Range hosts(1, static_cast<int>(kHostsMost));
  options.measuring = {
      app.add_option("--links", cluster.links, "links to measure: raw, udp, xdp, with commas")
          ->capture_default_str(),
      app.add_option("--board", cluster.board, "board of each host to measure by")
          ->check(CLI::Range(0, kBoardMost))
          ->capture_default_str(),
      app.add_option("--frames", cluster.frames, "frames for each path, for loss, duplicates and bandwidth")
          ->check(CLI::Range(1, static_cast<int>(kFramesMost)))
          ->capture_default_str(),
      app.add_option("--loss", cluster.loss_percent, "percent of the frames of a path that may be lost")
          ->check(CLI::Range(0.0, 100.0))
          ->capture_default_str(),
      app.add_option("--deviations", cluster.deviations,
                     "robust standard deviations by which a slow path differs from the median; 0: speed is "
                     "not judged")
          ->check(CLI::Range(0.0, 1000.0))
          ->capture_default_str(),
      app.add_option("--sample", cluster.sample,
                     "hosts with which each host measures (default: all of up to 16 hosts, 8 of more)")
          ->check(hosts),
      app.add_option("--pairs", cluster.pairs, "pairs that measure at once (default: as many as there are)")
          ->check(hosts),
      app.add_option("--limit", cluster.answer_seconds, "seconds in which an agent must answer")
          ->check(CLI::Range(1.0, 3600.0))
          ->capture_default_str(),
      app.add_option("--heatmap", cluster.heatmap, "file for a picture of all paths (SVG)")};
}

}  // namespace

Command check_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "check", "settings of NICs and host, and what would improve them; all hosts of a cluster");
  auto options = std::make_shared<CheckOptions>();
  CLI::Option* interfaces = app->add_option(
      "interface", options->interfaces, "only these, and not the host (default: all boards, and the host)");
  app->add_flag("--json", options->json, "print a JSON document");
  CLI::Option* hosts =
      app->add_option("--hosts", options->cluster.hosts,
                      "examine these hosts and the paths between them: h1,h2 or h[1-16] or a file");
  CLI::Option* job =
      app->add_flag("--job", options->job, "as --hosts, for the hosts of the job that started this");
  // An empty name for the group hides what only the coordinator gives.
  CLI::Option* agent = app->add_flag("--agent", options->agent)->group("");
  hosts->excludes(interfaces)->excludes(job);
  job->excludes(interfaces);
  agent->excludes(hosts)->excludes(job)->excludes(interfaces);
  launch_options_add(*app, *options, hosts, job);
  measure_options_add(*app, *options);
  app->footer("With --hosts or --job the exit status is 0: fit, 1: not fit, 2: could not be checked.");
  return {app, [options] { return check_run(*options); }};
}

}  // namespace omx::tools
