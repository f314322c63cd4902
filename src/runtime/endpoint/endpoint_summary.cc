// SPDX-License-Identifier: BSD-3-Clause
// One line about the process (OMX_VERBOSE=1): which interface, what carries its messages, how many peers.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/fork_guard.h"
#include "base/log.h"
#include "runtime/endpoint/endpoint_impl.h"
#include "wire/udp_nic.h"

namespace omx::runtime {

namespace {

// Takes the line for this process: true once, and once more in a forked child.
bool summary_take() {
  static std::atomic<unsigned> taken{0};
  const unsigned mark = fork_generation() + 1;
  unsigned before = taken.load(std::memory_order_relaxed);
  return before != mark && taken.compare_exchange_strong(before, mark, std::memory_order_relaxed);
}

std::string link_text(const link::Transport& link, const Board& board) {
  if (!board.udp) return link.name();
  return fmt::format("{} over {}", link.name(),
                     wire::udp_family(link.interface().nic()) == wire::IpFamily::v6 ? "IPv6" : "IPv4");
}

}  // namespace

std::string Endpoint::Impl::summary(std::size_t peers) const {
  std::string interfaces = board_.interface.name;
  for (const auto& rail : rails) interfaces += "+" + rail->board.interface.name;
  return fmt::format("{} endpoint {}: messages by {}, MTU {}, wire mode {}, {} peer{}", interfaces, id_,
                     link_text(*link, board_), link->interface().mtu(),
                     settings_.protocol.mode == wire::Mode::omx ? "omx" : "mxoe", peers,
                     peers == 1 ? "" : "s");
}

// A program meets its peers one by one: the line waits until no new one has come for a period of check(), or
// until the endpoint is closed.
void Endpoint::Impl::summary_check(bool last) {
  if (summarized_ || !log_enabled(LogLevel::summary)) return;
  std::size_t peers = 0;
  for (std::uint32_t i = 0; i < engine->partner_count(); i++) {
    const protocol::Partner* partner = engine->partner_at(i);
    peers += partner && partner != engine->self() && protocol::partner_connected(partner);
  }
  // Peers of a process that ends may be gone already.
  const std::size_t most = std::max(peers, summary_peers_);
  const bool settled = most > 0 && most == summary_peers_;
  summary_peers_ = most;
  if (!settled && !last) return;
  summarized_ = true;
  if (summary_take()) log_line(LogLevel::summary, summary(most));
}

}  // namespace omx::runtime
