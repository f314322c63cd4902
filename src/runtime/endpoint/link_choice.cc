// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/link_choice.h"

#include <memory>
#include <utility>

#include "broker/granted_endpoint.h"
#include "link/ethernet/packet_link.h"
#include "link/ethernet/xdp_link.h"
#include "link/udp/udp_link.h"
#include "netdev/interface_state.h"

namespace omx::runtime {

namespace {

// Returns whether the interface of a granted board is in this network namespace. The UDP sockets of a bulk
// path need its address.
bool interface_is_here(const Board& board) {
  link::InterfaceState here;
  return link::interface_state_by_name(board.interface.name, here) == 0 && here.nic == board.mac;
}

}  // namespace

Result<std::unique_ptr<link::Transport>> frames_open(const Settings& settings, const Board& board,
                                                     std::uint8_t endpoint, bool rail) {
  const bool bulk =
      !rail && settings.udp_bulk && settings.protocol.mode == wire::Mode::omx && settings.protocol.extension;
  if (board.udp)
    return link::udp_link_open(
        {board.interface.name, endpoint, settings.udp_port, bulk, board.family, settings.zerocopy});
  link::PacketLinkOptions options;
  options.interface = board.interface.name;
  options.board_frames = !rail;
  options.endpoint = endpoint;
  options.ring_frames = settings.ring_frames;
  options.ring_bytes = settings.ring_bytes;
  options.udp = bulk;
  options.zerocopy = settings.zerocopy;
  // To see frames for endpoints that no process has open, the endpoint needs a filter of its own.
  options.own_sockets = settings.protocol.mode == wire::Mode::mxoe ? link::kAllHooks : settings.own_sockets;
  if (board.granted()) {
    options.board_frames = false;
    options.own_sockets = link::kAllHooks;
    options.udp = bulk && interface_is_here(board);
    options.granted = std::make_shared<broker::GrantedEndpoint>(broker::EndpointWish{
        board.broker, board.interface.name, endpoint, options.ring_frames, options.ring_bytes});
    return link::packet_link_open(options);
  }
  if (settings.link == LinkKind::xdp) return link::xdp_link_open(xdp_options(settings, std::move(options)));
  return link::packet_link_open(options);
}

}  // namespace omx::runtime
