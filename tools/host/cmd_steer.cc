// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/cmd_steer.h"

#include <net/if.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "config/settings.h"
#include "config/settings_environment.h"
#include "steering/queues.h"
#include "steering/xdp/steer_attach.h"
#include "tools/host/arrivals.h"
#include "tools/host/steer_flows.h"
#include "tools/host/steer_print.h"
#include "tuning/ledger.h"

namespace omx::tools {

namespace {

using steering::Attachment;

struct SteerOptions {
  std::string interface;
  std::string cpus;
  std::string map;
  std::string mode = "auto";
  std::optional<std::uint32_t> endpoints;
  std::string state_folder = tuning::kLedgerFolder;
  bool flows = false;
  unsigned watch_s = 0;
  bool show = false;
  bool off = false;
  bool json = false;
};

std::optional<steering::XdpMode> mode_wanted(const std::string& name) {
  if (name == "native") return steering::XdpMode::native;
  if (name == "generic") return steering::XdpMode::generic;
  return std::nullopt;
}

// Returns the XDP programs of the named interface, or of all interfaces.
Result<std::vector<Attachment>> attachments_find(const std::string& interface) {
  if (interface.empty()) return steering::xdp_attached_all();
  auto one = steering::xdp_attached(interface);
  if (!one) return tl::unexpected(one.error());
  std::vector<Attachment> found;
  if (*one) found.push_back(std::move(**one));
  return found;
}

// Warns if RPS moves steered frames away again. Nothing else would show it: the table and the counts look
// right.
void rps_warn(const std::string& name) {
  link::Interface interface;
  interface.name = name;
  interface.index = ::if_nametoindex(name.c_str());
  const std::vector<int> queues = steering::rps_queues("", interface);
  if (queues.empty()) return;
  warned(
      "{0}: RPS is on for receive queue{1} {2} and moves steered frames to other processors: "
      "echo 0 | tee /sys/class/net/{0}/queues/rx-*/rps_cpus",
      name, queues.size() == 1 ? "" : "s", cpu_list_text(queues));
}

// Watches the interface that was named.
Result<std::vector<Arrivals>> arrivals_find(const SteerOptions& options) {
  std::vector<Arrivals> found;
  if (options.watch_s == 0) return found;
  const auto settings = runtime::settings_load();
  if (!settings) return tl::unexpected(settings.error());
  const auto interface = steer_interface_find(options.interface);
  if (!interface) return tl::unexpected(interface.error());
  fmt::print(stderr, "watching {} for {} s\n", interface->name, options.watch_s);
  auto arrivals = arrivals_watch(*interface, settings->udp_port, std::chrono::seconds(options.watch_s));
  if (!arrivals) return tl::unexpected(arrivals.error());
  found.push_back(std::move(*arrivals));
  return found;
}

int show_run(const SteerOptions& options) {
  const auto arrivals = arrivals_find(options);  // first, because what is attached may change meanwhile
  if (!arrivals) return failed("steer", "{}", arrivals.error().message);
  const auto found = attachments_find(options.interface);
  if (!found) return failed("steer", "{}", found.error().message);
  const auto flows = steer_flows_find(options.interface);
  if (!flows) return failed("steer", "{}", flows.error().message);
  std::vector<SteerReport> reports;
  for (const Attachment& attachment : *found) {
    SteerReport& report = reports.emplace_back(SteerReport{&attachment, std::nullopt, {}});
    if (!attachment.ours) continue;
    rps_warn(attachment.interface);
    auto state = steering::steer_read(attachment.program.get());
    if (state)
      report.state = std::move(*state);
    else
      report.problem = state.error().message;
  }
  fmt::print("{}", options.json ? steer_json(reports, *flows, *arrivals)
                                : steer_text(reports, *flows, options.interface));
  if (!options.json)
    for (const Arrivals& one : *arrivals) fmt::print("{}", arrivals_text(one));
  return kOk;
}

// Detaches our programs and counts them. Returns whether all could be detached.
bool programs_off(const SteerOptions& options, std::size_t& count) {
  const auto found = attachments_find(options.interface);
  if (!found) {
    failed("steer", "{}", found.error().message);
    return false;
  }
  bool good = true;
  for (const Attachment& attachment : *found) {
    if (!attachment.ours) {
      if (!options.interface.empty())
        fmt::print("{} has another XDP program, \"{}\", which stays\n", attachment.interface,
                   attachment.name);
      continue;
    }
    if (const auto done = steering::steer_detach(attachment); !done) {
      good = false;
      failed("steer", "{}", done.error().message);
      continue;
    }
    count++;
    fmt::print("{}: no longer steered\n", attachment.interface);
  }
  return good;
}

bool flows_off(const SteerOptions& options, std::size_t& count) {
  const auto taken = steer_flows_off(options.interface, options.state_folder);
  if (!taken) {
    failed("steer", "{}", taken.error().message);
    return false;
  }
  if (*taken) fmt::print("{} flow rules removed\n", *taken);
  count += *taken;
  return true;
}

int off_run(const SteerOptions& options) {
  std::size_t count = 0;
  const bool programs = options.flows || programs_off(options, count);
  if (!flows_off(options, count) || !programs) return kFailed;
  if (count == 0) fmt::print("nothing was steered\n");
  return kOk;
}

int flows_run(const SteerOptions& options) {
  const auto done = steer_flows_set(
      {options.interface, options.cpus, options.map, options.endpoints, options.state_folder});
  if (!done) return failed("steer", "{}", done.error().message);
  fmt::print("{}", *done);
  return kOk;
}

int attach_run(const SteerOptions& options) {
  const auto table = steering::steer_table_make(options.cpus, options.map, processors_online());
  if (!table) return failed("steer", "{}", table.error().message);
  // This check comes first, because its message is clearer than that of a failed load.
  if (const auto there = steering::xdp_attached(options.interface); !there)
    return failed("steer", "{}", there.error().message);
  const auto program = steering::steer_load(*table);
  if (!program) return failed("steer", "{}", program.error().message);
  const auto mode = steering::steer_attach(options.interface, program->get(), mode_wanted(options.mode));
  if (!mode) return failed("steer", "{}", mode.error().message);
  fmt::print("{}: steered in {} mode, endpoints {}; omx steer {} --off ends it\n", options.interface,
             steering::xdp_mode_name(*mode), steering::steer_table_text(*table), options.interface);
  rps_warn(options.interface);
  return kOk;
}

int run(const SteerOptions& options) {
  if (options.off) return off_run(options);
  if (options.show || options.interface.empty()) return show_run(options);
  return options.flows ? flows_run(options) : attach_run(options);
}

}  // namespace

Command steer_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("steer", "hand frames to the processors of their endpoints, by XDP");
  auto options = std::make_shared<SteerOptions>();
  CLI::Option* interface = app->add_option("interface", options->interface,
                                           "interface to steer; without it, show what is attached to all");
  CLI::Option* cpus = app->add_option("--cpus", options->cpus,
                                      "processors to use, as in 0,2-5: endpoint e gets number e modulo their "
                                      "count (default: all that are online)")
                          ->needs(interface);
  CLI::Option* map =
      app->add_option(
             "--map", options->map,
             "endpoints with processors of their own, as in 0:1,4-7:0; --cpus decides for the others")
          ->needs(interface);
  CLI::Option* mode =
      app->add_option(
             "--mode", options->mode,
             "native: in the driver; generic: in the kernel, with any driver; auto: native where possible")
          ->check(CLI::IsMember({"native", "generic", "auto"}))
          ->capture_default_str()
          ->needs(interface);
  CLI::Option* flows = app->add_flag("--flows", options->flows,
                                     "by flow rules of the NIC, for endpoints that are reached by UDP")
                           ->needs(interface);
  CLI::Option* endpoints =
      app->add_option("--endpoints", options->endpoints,
                      "with --flows: how many endpoints, from 0 on, get rules (16, or as "
                      "many as the NIC has room for)")
          ->check(CLI::Range(1, 256))
          ->needs(flows);
  app->add_option("--state-dir", options->state_folder, "folder that remembers our flow rules")
      ->capture_default_str();
  CLI::Option* show = app->add_flag("--show", options->show, "show what is attached, and count frames");
  CLI::Option* watch = app->add_option("--watch", options->watch_s,
                                       "with --show: count for this many seconds which processor receives "
                                       "the frames of which endpoint, steered or not")
                           ->check(CLI::Range(1, 86400))
                           ->needs(show)
                           ->needs(interface);
  CLI::Option* off =
      app->add_flag("--off", options->off,
                    "remove our program and flow rules from the interface, or from all; never others");
  // An empty variable of a script must not stand for all interfaces, all processors, or no map.
  for (CLI::Option* given : {interface, cpus, map})
    given->check([](const std::string& text) { return text.empty() ? "it must not be empty" : ""; });
  CLI::Option* json = app->add_flag("--json", options->json, "show, as a JSON document");
  json->needs(show);
  flows->excludes(mode);
  flows->excludes(show);
  for (CLI::Option* other : {cpus, map, mode, endpoints}) {
    show->excludes(other);
    off->excludes(other);
  }
  off->excludes(show);
  off->excludes(watch);
  app->footer(
      "The program stays attached when this command ends, until --off, or until the interface is removed or "
      "the host\nrestarts. Steering an interface again replaces the table at once, without a gap, and resets "
      "the counts.\nNeeds root. An interface takes one XDP program. If it has another one, nothing is "
      "changed.\nWith --flows the NIC itself steers, by UDP port. Its rules stay, too, and either all are "
      "made or none.");
  return {app, [options] { return run(*options); }};
}

}  // namespace omx::tools
