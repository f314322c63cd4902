// SPDX-License-Identifier: BSD-3-Clause
// What the endpoints of a process share; closing them.
#include "runtime/process/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fork_guard.h"
#include "base/log.h"
#include "base/log_file.h"
#include "base/no_cancel.h"
#include "base/text.h"
#include "base/text_file.h"
#include "config/settings_environment.h"
#include "config/verbose_prefix.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

constexpr int kMxFailure = 2;
// Turns of the other endpoints while one is closed: they may be who it waits for.
constexpr TimeNs kHelpPeriod = 1 * protocol::kMillisecond;

std::string host_of(const std::vector<Board>& boards) {
  for (const Board& board : boards) {
    if (!board.interface.loopback) return board.hostname.substr(0, board.hostname.rfind(':'));
  }
  return "localhost";
}

std::string prefix_of(const Settings& settings, const PrefixFacts& facts) {
  return verbose_prefix_expand(settings.verbose_prefix, facts).value_or("OMX: ");
}

}  // namespace

Process::Process() : slots_(new std::atomic<Endpoint*>[kSlots]()) {}

Result<std::unique_ptr<Process>> Process::create() {
  const auto settings = settings_load();
  if (!settings) return tl::unexpected(settings.error());
  return create(*settings);
}

Result<std::unique_ptr<Process>> Process::create(const Settings& settings) {
  std::unique_ptr<Process> process(new Process);
  process->settings_ = settings;
  auto boards = boards_find(settings);
  if (!boards) return tl::unexpected(boards.error());
  process->boards_ = std::move(*boards);
  process->log_setup();
  if (auto r = process->peers_setup(); !r) return tl::unexpected(r.error());
  return process;
}

void Process::log_setup() {
  const int level = static_cast<int>(LogLevel::warn) + std::min(settings_.verbose, 2);
  g_log_level.store(std::max(level, g_log_level.load()));
  PrefixFacts facts;
  facts.pid = ::getpid();
  facts.host = host_of(boards_);
  log_set_prefix(prefix_of(settings_, facts));
  log_file_try();
}

// Only the first endpoint: the prefix is shared by all, and must not change while others write.
void Process::log_name_endpoint(const Board& board, std::uint32_t id) {
  if (named_) return;
  named_ = true;
  PrefixFacts facts;
  facts.pid = ::getpid();
  facts.host = host_of(boards_);
  facts.endpoint = std::to_string(id);
  facts.board = std::to_string(board.number);
  facts.board_name = board.interface.name;
  log_set_prefix(prefix_of(settings_, facts));
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
  // A table that names our own boards is the same on all hosts: it wins over the host name.
  for (Board& board : boards_) {
    if (const auto peer = peers_.find(board.interface.nic)) board.hostname = peer->name;
    peers_.set(board.interface.nic, board.hostname, true);
  }
  return {};
}

bool Process::owns(const Endpoint* endpoint) const {
  const std::lock_guard guard(mutex_);
  return std::find(open_.begin(), open_.end(), endpoint) != open_.end();
}

Endpoint* Process::endpoint_at(std::uint32_t slot) const {
  return slot < kSlots ? slots_[slot].load(std::memory_order_acquire) : nullptr;
}

// One at a time is kept from closing: a handler that runs in here may close any of the others.
void Process::endpoints_help() {
  if (mark_.forked()) return;
  for (std::size_t i = 0;; i++) {
    Endpoint::Impl* impl = nullptr;
    {
      const std::lock_guard guard(mutex_);
      if (i >= open_.size()) return;
      impl = open_[i]->impl_.get();
      impl->lifecycle.pin();
    }
    impl->turn_if_free();
    impl->lifecycle.unpin();
  }
}

void Process::endpoints_visit(const std::function<void(Endpoint&)>& visit) {
  if (mark_.forked()) return;
  for (std::size_t i = 0;; i++) {
    std::optional<Endpoint::Pin> pin;
    Endpoint* endpoint = nullptr;
    {
      const std::lock_guard guard(mutex_);
      if (i >= open_.size()) return;
      endpoint = open_[i];
      pin.emplace(*endpoint);
    }
    visit(*endpoint);
  }
}

bool Process::close(Endpoint* endpoint) {
  RunningDeadline deadline(clock_now(), settings_.close_linger_ms);
  return close_until(endpoint, deadline);
}

bool Process::close_until(Endpoint* endpoint, RunningDeadline& deadline) {
  if (mark_.forked()) return false;
  const NoCancel no_cancel;
  {
    const std::lock_guard guard(mutex_);
    const auto it = std::find(open_.begin(), open_.end(), endpoint);
    if (it == open_.end() || endpoint->in_handler()) return false;
    open_.erase(it);
    slots_[endpoint->slot()].store(nullptr, std::memory_order_release);
  }
  endpoint->impl_->lifecycle.close_begin();
  while (!endpoint->impl_->lifecycle.close_drive(kHelpPeriod) && !deadline.passed(clock_now()))
    endpoints_help();
  endpoint->impl_->lifecycle.close_end();
  delete endpoint;
  return true;
}

Process::~Process() {
  // A forked child leaves everything to its parent: destroying its copies could disturb the shared sockets.
  if (mark_.forked()) return;
  RunningDeadline deadline(clock_now(), settings_.close_linger_ms);
  while (!open_.empty() && close_until(open_.back(), deadline)) {
  }
}

const Board* Process::board_of(NicId nic) const {
  for (const Board& board : boards_) {
    if (board.interface.nic == nic) return &board;
  }
  return nullptr;
}

}  // namespace omx::runtime
