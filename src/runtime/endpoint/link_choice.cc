// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/link_choice.h"

#include <utility>

#include "link/ethernet/packet_link.h"
#include "link/ethernet/xdp_link.h"
#include "link/udp/udp_link.h"

namespace omx::runtime {

Result<std::unique_ptr<link::Transport>> frames_open(const Settings& settings, const Board& board,
                                                     std::uint8_t endpoint, bool rail) {
  const bool bulk =
      !rail && settings.udp_bulk && settings.protocol.mode == wire::Mode::omx && settings.protocol.extension;
  if (board.udp)
    return link::udp_link_open({board.interface.name, endpoint, settings.udp_port, bulk, board.family});
  link::PacketLinkOptions options;
  options.interface = board.interface.name;
  options.board_frames = !rail;
  options.endpoint = endpoint;
  options.ring_frames = settings.ring_frames;
  options.ring_bytes = settings.ring_bytes;
  options.udp = bulk;
  // To see frames for endpoints that no process has open, the endpoint needs a filter of its own.
  options.own_sockets = settings.protocol.mode == wire::Mode::mxoe ? link::kAllHooks : settings.own_sockets;
  if (settings.link == LinkKind::xdp) return link::xdp_link_open(xdp_options(settings, std::move(options)));
  return link::packet_link_open(options);
}

}  // namespace omx::runtime
