// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "base/text_file.h"
#include "config/settings_environment.h"
#include "runtime/process/at_exit.h"
#include "runtime/report/endpoint_figures.h"

namespace omx::runtime {

namespace {
constexpr int kMxFailure = 2;
}  // namespace

Process::Process(const Settings& settings, std::vector<Board> boards)
    : settings_(settings),
      boards_(std::move(boards)),
      report_(settings_,
              [this](ReportTotals& totals) {
                endpoints_.visit([&](Endpoint& endpoint) { report_add(endpoint, totals); });
              }),
      endpoints_([this](Endpoint& endpoint) {
        if (!report_.wanted()) return;
        ReportTotals totals;
        report_add(endpoint, totals);
        report_.closed(totals);
      }),
      prefix_(settings_, boards_.found()),
      opening_(settings_, boards_, peers_, endpoints_, prefix_),
      names_(settings_, boards_, peers_, endpoints_),
      unreached_(settings_, boards_, endpoints_) {}

Result<std::unique_ptr<Process>> Process::create() {
  const auto settings = settings_load();
  if (!settings) return tl::unexpected(settings.error());
  return create(*settings);
}

Result<std::unique_ptr<Process>> Process::create(const Settings& settings) {
  auto boards = boards_find(settings);
  if (!boards) return tl::unexpected(boards.error());
  std::unique_ptr<Process> process(new Process(settings, std::move(*boards)));
  process->prefix_.begin();
  if (auto r = process->peers_setup(); !r) return tl::unexpected(r.error());
  return process;
}

Result<void> Process::peers_setup() {
  const bool named = !settings_.peers_file.empty();
  const std::string file = named ? settings_.peers_file : kDefaultPeersFile;
  const auto text = text_file_read(file);
  if (!text && (named || text.error() != ENOENT)) {
    return fail(kMxFailure,
                fmt::format("cannot read the peers file {}: {}; correct OMX_PEERS_FILE or its permissions",
                            shown(file, kPathShown), text_file_error(text.error())));
  }
  std::string listed = settings_.peers;
  std::replace(listed.begin(), listed.end(), ',', '\n');
  const auto from_file = peers_parse(text.value_or(""), file);
  if (!from_file) return tl::unexpected(from_file.error());
  const auto from_variable = peers_parse(listed, "OMX_PEERS");
  if (!from_variable) return tl::unexpected(from_variable.error());
  for (const auto* peers : {&*from_file, &*from_variable}) {
    for (const Peer& peer : *peers) peers_.set(peer.nic, peer.name);
  }
  // A table that names our own boards is the same on all hosts, so it wins over the host name.
  for (const Board& board : boards_.found()) {
    if (const auto peer = peers_.find(board.interface.nic)) boards_.name_set(board, peer->name);
    peers_.set(board.interface.nic, board.hostname, true);
  }
  return {};
}

Result<Endpoint*> Process::open(const OpenOptions& options) {
  auto opened = opening_.open(options);
  if (opened) {
    report_.begin();
    std::call_once(exit_watched_, [this] { exit_watch(endpoints_); });
  }
  return opened;
}

bool Process::close(Endpoint* endpoint) {
  RunningDeadline deadline(clock_now(), settings_.close_linger_ms);
  return endpoints_.close(endpoint, deadline);
}

Process::~Process() {
  // A forked child leaves everything to its parent: destroying its copies could disturb the shared sockets.
  if (mark_.forked()) return;
  exit_forget(endpoints_);
  RunningDeadline deadline(clock_now(), settings_.close_linger_ms);
  endpoints_.close_all(deadline);
  report_.end();
}

}  // namespace omx::runtime
