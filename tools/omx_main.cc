// SPDX-License-Identifier: BSD-3-Clause
// omx: shows the state of Open-MX on this host and measures it.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "tools/bugreport/cmd_bugreport.h"
#include "tools/capture/cmd_capture.h"
#include "tools/command.h"
#include "tools/explain/cmd_explain.h"
#include "tools/host/cmd_check.h"
#include "tools/host/cmd_prepare_binding.h"
#include "tools/host/cmd_run.h"
#include "tools/host/cmd_steer.h"
#include "tools/host/cmd_tune.h"
#include "tools/info/cmd_info.h"
#include "tools/parity/parity.h"
#include "tools/parity/programs.h"
#include "tools/perf/cmd_perf.h"
#include "tools/watch/cmd_counters.h"
#include "tools/watch/cmd_dump.h"
#include "tools/watch/cmd_peers.h"
#include "tools/watch/cmd_top.h"

namespace {

using omx::tools::Command;

// Returns the sentence for a command that does not exist, with the nearest name.
std::string unknown_command_text(const CLI::App& root, std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string> owners;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; }))
    owners.push_back(command->get_name());
  names.assign(owners.begin(), owners.end());
  const std::string_view meant = omx::nearest_word(name, names);
  return fmt::format("there is no command \"{}\"{}", omx::shown(name),
                     meant.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", meant));
}

// Adds `omx help` and `omx help COMMAND`.
Command help_command(CLI::App& root, std::string& topic) {
  CLI::App* app = root.add_subcommand("help", "explain a command");
  app->add_option("command", topic, "the command to explain");
  return {app, [&root, &topic] {
            const CLI::App* about = topic.empty() ? &root : nullptr;
            for (const CLI::App* command : root.get_subcommands({})) {
              if (command->get_name() == topic) about = command;
            }
            if (!about) {
              omx::tools::failed("help", "{}; omx help lists them", unknown_command_text(root, topic));
              return omx::tools::kUsage;
            }
            // root.help() would explain `omx help`, because that is the command that was given.
            const std::string name = about == &root ? "omx" : "omx " + about->get_name();
            fmt::print("{}", about->get_formatter()->make_help(about, name, CLI::AppFormatMode::Normal));
            return omx::tools::kOk;
          }};
}

// Runs a command or a program, and says what it cannot say itself: why it ended early, or why output was
// lost, as on a full disk. `failure` is the status for that.
int program_run(const std::string& program, int failure, const std::function<int()>& run) {
  int status = omx::tools::kOk, error = 0;
  std::string problem;
  try {
    status = run();
  } catch (const std::bad_alloc&) {
    problem = "out of memory; free some or raise the limit (ulimit -v)";
  } catch (const std::exception& e) {
    // fmt::print() throws when a write fails.
    const auto* const system = dynamic_cast<const std::system_error*>(&e);
    if (system && std::ferror(stdout) != 0)
      error = system->code().value();
    else
      problem = fmt::format("internal error: {}; please report it", e.what());
  }
  if (std::fflush(stdout) != 0 && error == 0) error = errno;
  if (error != 0)
    problem = fmt::format("cannot write: {}", std::strerror(error));
  else if (std::ferror(stdout) != 0 && problem.empty())
    problem = "cannot write: a part of the output is lost";
  if (problem.empty()) return status;
  omx::tools::message_print(program, problem);
  return status == omx::tools::kOk ? failure : status;
}

// Returns the last part of a path.
std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string called_as(argc > 0 ? name_of(argv[0]) : "");
  if (const omx::tools::Program program = omx::tools::parity_program(called_as))
    return program_run(called_as, omx::tools::kParityFailed, [&] { return program(argc, argv); });
  CLI::App root("Open-MX: message passing over Ethernet", "omx");
  root.set_version_flag("--version", "omx (Open-MX) " OMX_VERSION);
  root.require_subcommand(1);
  root.footer("omx help COMMAND explains a command. Exit status: 0 done, 1 failed, 2 wrong usage.");
  std::string topic, command_of_original = "prepare-binding";
  const std::vector<Command> commands = {
      omx::tools::info_command(root),
      omx::tools::perf_command(root),
      omx::tools::counters_command(root),
      omx::tools::top_command(root),
      omx::tools::dump_command(root),
      omx::tools::peers_command(root),
      omx::tools::check_command(root),
      omx::tools::tune_command(root),
      omx::tools::prepare_binding_command(root),
      omx::tools::steer_command(root),
      omx::tools::capture_command(root),
      omx::tools::run_command(root),
      omx::tools::explain_command(root),
      omx::tools::bugreport_command(root),
      help_command(root, topic),
  };
  std::vector<char*> arguments(argv, argv + argc);
  // That program of Open-MX 1.x had the same options.
  if (called_as == "omx_prepare_binding") arguments.insert(arguments.begin() + 1, command_of_original.data());
  try {
    root.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& e) {
    // --help and --version also end here.
    if (e.get_exit_code() == 0) return program_run("omx", omx::tools::kFailed, [&] { return root.exit(e); });
    const bool unknown = argc > 1 && argv[1][0] != '-' && root.get_subcommands().empty();
    const std::string problem = unknown ? unknown_command_text(root, argv[1]) : e.what();
    const auto given = root.get_subcommands();
    const std::string about = given.empty() ? "" : " " + given.front()->get_name();
    omx::tools::message_print("omx", fmt::format("{}; omx help{} shows what is accepted", problem, about));
    return omx::tools::kUsage;
  }
  for (const Command& command : commands) {
    if (command.app->parsed())
      return program_run("omx " + command.app->get_name(), omx::tools::kFailed, command.run);
  }
  return omx::tools::kUsage;
}
