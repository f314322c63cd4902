// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/log_prefix.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/log_file.h"
#include "config/verbose_prefix.h"

namespace omx::runtime {

namespace {

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

void LogPrefix::begin() const {
  const int level = static_cast<int>(LogLevel::warn) + std::min(settings_.verbose, 2);
  g_log_level.store(std::max(level, g_log_level.load()));
  PrefixFacts facts;
  facts.pid = ::getpid();
  facts.host = host_of(boards_);
  log_set_prefix(prefix_of(settings_, facts));
  log_file_try();
}

void LogPrefix::endpoint_opened(const Board& board, std::uint32_t id) {
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

}  // namespace omx::runtime
