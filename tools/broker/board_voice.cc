// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/board_voice.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "link/ethernet/packet_link.h"
#include "netdev/open_failure.h"
#include "wire/codec.h"

namespace omx::broker {

namespace {
// Endpoint ids end at 255, and OMX_ENDPOINTS_MAX is a setting of programs.
constexpr std::uint32_t kEndpoints = 256;
constexpr std::int64_t kAnnouncePause = 10'000'000'000;
constexpr std::size_t kFramesAtOnce = 64, kQuestionsAtOnce = 64;
}  // namespace

BoardVoice::BoardVoice(const runtime::Board& board, Ears ears, std::unique_ptr<link::Transport> link)
    : board_(board),
      ears_(std::move(ears)),
      link_(std::move(link)),
      responder_(board_, kEndpoints, peers_, *link_) {
  responder_.alone(ears_.open);
}

Result<std::unique_ptr<BoardVoice>> BoardVoice::open(const runtime::Board& board, Ears ears) {
  link::PacketLinkOptions options;
  options.interface = board.interface.name;
  options.endpoint = 255;  // only frames of the board are needed
  options.ring_frames = 256;
  options.ring_bytes = 1U << 20;
  auto link = link::packet_link_open(options);
  if (!link) return tl::unexpected(link.error());
  // The program at the macvlan's egress hook lets only sealed sockets send, and this one avoids the hook.
  const int one = 1;
  if (::setsockopt((*link)->descriptor(), SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one) < 0)
    return tl::unexpected(link::open_failure("the socket of the board's voice", errno));
  return std::unique_ptr<BoardVoice>(new BoardVoice(board, std::move(ears), std::move(*link)));
}

void BoardVoice::ask(NicId nic) {
  responder_.query(nic);
  if (nic == kBroadcastNic) {
    // Legacy hosts answer only a question to their own address.
    std::size_t asked = 0;
    for (const runtime::Peer& peer : peers_.all()) {
      if (peer.name.empty() && asked++ < kQuestionsAtOnce) responder_.query(peer.nic);
    }
  }
  link_->flush();
}

void BoardVoice::announce(std::uint32_t serial, std::int64_t now_ns) {
  if (now_ns < announce_at_) return;
  announce_at_ = now_ns + kAnnouncePause;
  responder_.announce(serial);
  link_->flush();
}

void BoardVoice::receive() {
  link_->interface().refresh();
  // The rest waits for the next turn of the loop, so that a flood does not keep clients waiting.
  link_->receive(*this, kFramesAtOnce);
  link_->flush();
}

void BoardVoice::on_frame(wire::Frame frame) {
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none || !responder_.on_frame(frame)) return;
  wire::HostReply reply;
  if (head.type != wire::PacketType::host_reply || head.dst != board_.interface.nic ||
      wire::decode_host_reply(frame, reply) != wire::Drop::none)
    return;
  const auto peer = peers_.find(head.src);  // learned if the name is one
  if (peer && !peer->name.empty())
    ears_.named({peer->nic, peer->name, reply.src_dst_peer_index == runtime::kBrokerIndex});
}

}  // namespace omx::broker
