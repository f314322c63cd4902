// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/cmd_tune.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/host/tuning_targets.h"
#include "tuning/ethtool_kernel.h"
#include "tuning/tuner.h"

namespace omx::tools {

namespace {

struct TuneOptions {
  std::vector<std::string> interfaces;
  bool undo = false;
  bool dry_run = false;
  std::string state_folder = tuning::kLedgerFolder;
};

// Prints each line before the next change, so that a user who stops the program knows how far it came.
void say(std::string_view line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

Result<tuning::Ledger> ledger_open(const tuning::Machine& machine, const TuneOptions& options) {
  const auto boot = tuning::line_read(machine, "/proc/sys/kernel/random/boot_id");
  return tuning::Ledger::open(options.state_folder, tuning::ledger_name(), boot.value_or("unknown"));
}

void dry_run_print(const std::vector<tuning::Finding>& findings) {
  for (const tuning::Finding& f : findings) {
    for (const tuning::Change& c : f.changes) {
      fmt::print("{}: {} -> {}\n", tuning::setting_text(c.setting), c.former, c.wanted);
    }
  }
}

int dry_run(const TuningReport& report) {
  if (tuning_count(report).tunable == 0) {
    fmt::print("nothing to change\n");
    return kOk;
  }
  fmt::print("would change, and save the former values:\n");
  for (const TuningTarget& target : report.interfaces) dry_run_print(target.findings);
  dry_run_print(report.host);
  return kOk;
}

int tune_run(const tuning::Machine& machine, const TuneOptions& options) {
  const auto report = tuning_report_find(machine, options.interfaces);
  if (!report) return failed("tune", "{}", report.error().message);
  if (options.dry_run) return dry_run(*report);
  auto ledger = ledger_open(machine, options);
  if (!ledger) return failed("tune", "{}", ledger.error().message);
  tuning::Applied sum;
  const auto apply = [&](const link::Interface* interface, const std::vector<tuning::Finding>& findings) {
    const auto applied = tuning::tune_apply(machine, *ledger, interface, findings, say);
    if (!applied) {
      failed("tune", "{}; omx tune --undo restores the former values", applied.error().message);
      return false;
    }
    sum.changed += applied->changed;
    sum.refused += applied->refused;
    return true;
  };
  for (const TuningTarget& target : report->interfaces) {
    if (!apply(&target.interface, target.findings)) return kFailed;
  }
  if (!apply(nullptr, report->host)) return kFailed;
  if (sum.changed + sum.refused == 0) {
    fmt::print("nothing to change\n");
    return kOk;
  }
  fmt::print("{} changed, {} refused; omx tune --undo restores the former values, which are in {}\n",
             sum.changed, sum.refused, ledger->path());
  return kOk;
}

int undo_run(const tuning::Machine& machine, const TuneOptions& options) {
  auto ledger = ledger_open(machine, options);
  if (!ledger) return failed("tune", "{}", ledger.error().message);
  if (ledger->saved().empty()) {
    fmt::print("nothing to undo: {} holds no former values\n", ledger->path());
    return kOk;
  }
  const auto undone = tuning::tune_undo(machine, *ledger, say);
  if (!undone) return failed("tune", "{}", undone.error().message);
  if (undone->failed) {
    return failed("tune",
                  "{} of the former values could not be restored and stay in {}; repeat omx tune --undo",
                  undone->failed, ledger->path());
  }
  fmt::print("{} restored, the others had their former values\n", undone->restored);
  return kOk;
}

int run(const TuneOptions& options) {
  if (!options.dry_run && ::geteuid() != 0) {
    return failed("tune", "only root may change settings of NICs and host: sudo omx tune");
  }
  const auto drivers = tuning::ethtool_of_kernel();
  const tuning::Machine machine{*drivers, {}};
  return options.undo ? undo_run(machine, options) : tune_run(machine, options);
}

}  // namespace

Command tune_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("tune", "make the improvements that omx check names, or undo them");
  auto options = std::make_shared<TuneOptions>();
  CLI::Option* interfaces = app->add_option(
      "interface", options->interfaces, "only these, and not the host (default: all boards, and the host)");
  CLI::Option* dry_run = app->add_flag("--dry-run", options->dry_run, "print what would be changed");
  app->add_flag("--undo", options->undo, "restore all values from before the first omx tune")
      ->excludes(interfaces)
      ->excludes(dry_run);
  app->add_option("--state-dir", options->state_folder, "folder that keeps former values")
      ->capture_default_str();
  return {app, [options] { return run(*options); }};
}

}  // namespace omx::tools
