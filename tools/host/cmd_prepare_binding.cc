// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/cmd_prepare_binding.h"

#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>

#include "base/cpu_list.h"
#include "base/text.h"
#include "config/settings.h"
#include "config/settings_environment.h"
#include "netdev/interfaces_choose.h"
#include "steering/binding_file.h"
#include "steering/binding_setting.h"
#include "steering/topology.h"
#include "tools/host/file_replace.h"

namespace omx::tools {

namespace {

struct PrepareOptions {
  std::string file = steering::kBindingFile;
  bool verbose = false;
};

Result<std::vector<steering::BindingBoard>> boards_read(const runtime::Settings& settings) {
  const auto choices = link::interfaces_choose(link::interfaces_list(), settings.interfaces);
  if (!choices) return tl::unexpected(choices.error());
  using runtime::LinkKind;
  const bool udp4 = settings.link == LinkKind::udp4, udp6 = settings.link == LinkKind::udp6;
  const bool udp = settings.link == LinkKind::udp || udp4 || udp6;
  const steering::DatagramPorts ports{settings.udp_port, !udp6, !udp4};
  std::vector<steering::BindingBoard> boards;
  for (const link::Choice& choice : *choices) {
    const link::Interface& i = choice.interface;
    if (choice.taken)
      boards.push_back({i.name, i.nic, steering::receive_queues_read("", i, udp ? &ports : nullptr)});
  }
  return boards;
}

void queues_print(const steering::BindingBoard& board) {
  if (steering::steering_decides(board.queues))
    fmt::print(stderr, "{}: by endpoint, as set by omx steer for {}\n", board.interface,
               board.queues.steered.interface);
  for (const steering::ReceiveQueue& queue : board.queues.queues) {
    fmt::print(stderr, "{} queue {}: {}, processor {}\n", board.interface, queue.number, queue.source,
               queue.processors.empty() ? "unknown" : cpu_list_text(queue.processors));
  }
}

bool known(const steering::BindingBoard& board) {
  if (steering::steering_decides(board.queues)) return true;
  for (const steering::ReceiveQueue& queue : board.queues.queues)
    if (!queue.processors.empty()) return true;
  return false;
}

int prepare_run(const PrepareOptions& options) {
  const auto settings = runtime::settings_load();
  if (!settings) return failed("prepare-binding", "{}", settings.error().message);
  const auto boards = boards_read(*settings);
  if (!boards) return failed("prepare-binding", "{}", boards.error().message);
  for (const steering::BindingBoard& board : *boards) {
    if (options.verbose) queues_print(board);
    if (!board.queues.steered.unreadable.empty()) warned("{}", board.queues.steered.unreadable);
    if (known(board)) continue;
    warned(
        "{}: the interrupts of its receive queues are not known, and RPS is off, so the file "
        "has no lines for it",
        board.interface);
  }
  const auto topology = steering::topology_load();
  if (!topology) warned("which processors share caches is not known: {}", topology.error());
  const std::string text = steering::binding_file_text(*boards, settings->endpoints_max, [&](int cpu) {
    return topology ? (*topology)->beside(cpu) : std::vector<int>{};
  });
  if (options.file == "-") {
    fmt::print("{}", text);
    return kOk;
  }
  if (is_special(options.file)) {
    return failed("prepare-binding", "{} is not a regular file; give - for the standard output",
                  shown(options.file, kPathShown));
  }
  if (const int error = file_replace(options.file, text)) {
    return failed("prepare-binding", "cannot write {}: {}; name another file, or - for the standard output",
                  shown(options.file, kPathShown), std::strerror(error));
  }
  fmt::print("Generated bindings in {}\n", options.file);
  return kOk;
}

}  // namespace

Command prepare_binding_command(CLI::App& root) {
  CLI::App* app = root.add_subcommand("prepare-binding", "write the file for OMX_PROCESS_BINDING=file");
  auto options = std::make_shared<PrepareOptions>();
  app->add_option("file", options->file, "file to write; - is the standard output")
      ->capture_default_str()
      ->check([](const std::string& name) {
        return name.empty() ? "it must not be empty; - is the standard output" : "";
      });
  app->add_flag("-v,--verbose", options->verbose, "show each receive queue");
  return {app, [options] { return prepare_run(*options); }};
}

}  // namespace omx::tools
