// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/cmd_check.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/host/check_print.h"
#include "tuning/ethtool_kernel.h"

namespace omx::tools {

namespace {

struct CheckOptions {
  std::vector<std::string> interfaces;
  bool json = false;
};

int check_run(const CheckOptions& options) {
  const auto drivers = tuning::ethtool_of_kernel();
  const auto report = tuning_report_find({*drivers, {}}, options.interfaces);
  if (!report) return failed("check", "{}", report.error().message);
  fmt::print("{}", options.json ? check_json(*report) : check_text(*report));
  return kOk;
}

}  // namespace

Command check_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("check", "settings of NICs and host, and what would improve them");
  auto options = std::make_shared<CheckOptions>();
  app->add_option("interface", options->interfaces,
                  "only these, and not the host (default: all boards, and the host)");
  app->add_flag("--json", options->json, "print a JSON document");
  return {app, [options] { return check_run(*options); }};
}

}  // namespace omx::tools
