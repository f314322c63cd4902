// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/summary_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/fork_guard.h"
#include "base/log.h"
#include "protocol/state/peer.h"
#include "wire/udp_nic.h"

namespace omx::runtime {

namespace {

// Takes the right to log the line. Returns true once for a process, and once more in a forked child.
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

std::string SummaryLine::text(std::size_t peers) const {
  std::string interfaces = core_.board.interface.name;
  for (const auto& rail : rails_.all()) interfaces += "+" + rail->board.interface.name;
  return fmt::format("{} endpoint {}: messages by {}, MTU {}, wire mode {}, {} peer{}", interfaces, core_.id,
                     link_text(*core_.link, core_.board), core_.link->interface().mtu(),
                     core_.settings.protocol.mode == wire::Mode::omx ? "omx" : "mxoe", peers,
                     peers == 1 ? "" : "s");
}

// Waits until no new peer has come for a period of check(), or until the endpoint is closed. A program meets
// its peers one by one.
void SummaryLine::check(bool last) {
  if (printed_ || !log_enabled(LogLevel::summary)) return;
  std::size_t peers = 0;
  for (std::uint32_t i = 0; i < core_.engine->peer_count(); i++) {
    const protocol::Peer* peer = core_.engine->peer_at(i);
    peers += peer && peer != core_.engine->self() && protocol::peer_connected(peer);
  }
  // Peers of a process that ends may already be gone.
  const std::size_t most = std::max(peers, peers_);
  const bool settled = most > 0 && most == peers_;
  peers_ = most;
  if (!settled && !last) return;
  printed_ = true;
  if (summary_take()) log_line(LogLevel::summary, text(most));
}

}  // namespace omx::runtime
