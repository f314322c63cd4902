// SPDX-License-Identifier: BSD-3-Clause
#include "tools/watch/cmd_dump.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/info/host_facts.h"
#include "tools/info/view_facts.h"
#include "tools/watch/dump_print.h"

namespace omx::tools {

namespace {

constexpr int kPidMost = 1 << 22;  // the kernel's limit

struct DumpOptions {
  pid_t pid = 0;
  long endpoint = -1;
  unsigned events = 32;
  bool json = false;
};

int dump_run(const DumpOptions& options) {
  auto process = runtime::Process::create();
  if (!process) return failed("dump", "{}", process.error().message);
  const Views views =
      views_take((*process)->boards(), (*process)->settings(), {options.pid, options.endpoint});
  for (const std::string& why : views.unread) failed("dump", "{}", why);
  if (views.read.empty() && views.unread.empty()) {
    return failed("dump", "process {} has no {} open; omx info lists the open endpoints and their processes",
                  options.pid,
                  options.endpoint < 0 ? "endpoint" : fmt::format("endpoint {}", options.endpoint));
  }
  const std::string text = options.json ? dump_json(views.read, (*process)->peers(), options.events)
                                        : dump_text(views.read, (*process)->peers(), options.events);
  fmt::print("{}", text);
  return views.unread.empty() ? kOk : kFailed;
}

}  // namespace

Command dump_command(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("dump", "what a process waits for: pending requests, peers, last events");
  auto options = std::make_shared<DumpOptions>();
  app->add_option("pid", options->pid, "process")->required()->check(CLI::Range(1, kPidMost));
  app->add_option("-e,--endpoint", options->endpoint, "only this endpoint")->check(CLI::Range(0, 255));
  app->add_option("--events", options->events, "show at most this many of the last events (default 32)")
      ->check(CLI::Range(0U, static_cast<unsigned>(protocol::History::kEvents)));
  app->add_flag("--json", options->json, "print a JSON document");
  return {app, [options] { return dump_run(*options); }};
}

}  // namespace omx::tools
