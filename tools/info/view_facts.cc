// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/view_facts.h"

#include <fmt/format.h>

#include "base/mac.h"
#include "runtime/board/broker_boards.h"
#include "runtime/board/resolver.h"
#include "runtime/clock.h"

namespace omx::tools {

Views views_take(const std::vector<runtime::Board>& boards, const runtime::Settings& settings,
                 const ViewQuery& query) {
  Views views;
  for (const runtime::Board& board : runtime::boards_watched(boards, settings)) {
    for (OpenEndpoint& open : endpoints_open(board, settings)) {
      if (query.endpoint >= 0 && open.id != static_cast<std::uint32_t>(query.endpoint)) continue;
      if (query.pid != 0 && open.holder.pid != query.pid) continue;
      auto shared = runtime::endpoint_read(board.interface.index, open.id);
      if (shared && (*shared)->counters.rail_of != 0) continue;  // the endpoint's own board shows it
      if (shared)
        views.read.push_back({board, std::move(open), std::move(*shared), runtime::clock_now()});
      else
        views.unread.push_back(fmt::format("board {}: {}", board.number, shared.error().message));
    }
  }
  return views;
}

std::string nic_text(runtime::PeerTable& names, NicId nic) {
  const auto peer = names.find(nic);
  if (peer && !peer->name.empty()) return peer->name;
  const std::string address = runtime::address_name(nic);
  return address.empty() ? mac_format(nic) : address;
}

std::string peer_text(runtime::PeerTable& names, NicId nic, std::uint8_t endpoint) {
  return fmt::format("{} endpoint {}", nic_text(names, nic), endpoint);
}

std::string age_text(protocol::TimeNs age) {
  const double seconds = static_cast<double>(age) / 1e9;
  if (seconds < 0.001) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace omx::tools
