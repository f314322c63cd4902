// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/board_responder.h"

#include <algorithm>
#include <string>

namespace omx::runtime {

namespace {

// Peers find us by MAC address, so one index serves all of them (docs/reference/wire.md 1).
constexpr std::uint16_t kOurIndex = 0;

// A question that comes again after this time was not answered. One that comes sooner was sent twice, or an
// earlier copy lay in the ring.
constexpr TimeNs kSilence = 10 * protocol::kMillisecond;
// After this time it counts as a new question.
constexpr TimeNs kForgotten = 5'000 * protocol::kMillisecond;
// Endpoints that receive a question within this time agree on one that answers.
constexpr TimeNs kMoment = 20 * protocol::kMillisecond;

constexpr std::uint64_t kNameQuestion = 0;

// Returns the same value for all repetitions of a request.
std::uint64_t connect_question(const wire::Connect& connect) {
  return 1ULL << 63 | std::uint64_t{connect.src_session} << 24 | std::uint64_t{connect.dst_endpoint} << 16 |
         std::uint64_t{connect.src_endpoint} << 8 | connect.connect_seqnum;
}

bool printable(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::size_t connect_refuse(std::byte* out, const wire::Head& request, const wire::Connect& connect,
                           std::uint32_t endpoints_max) {
  const wire::Head head{request.src, request.dst, connect.src_dst_peer_index, wire::PacketType::nack_lib};
  wire::NackLib nack;
  nack.src_endpoint = connect.dst_endpoint;
  nack.dst_endpoint = connect.src_endpoint;
  nack.code =
      connect.dst_endpoint < endpoints_max ? wire::NackCode::endpoint_closed : wire::NackCode::bad_endpoint;
  nack.peer_index = head.peer_index;
  return wire::encode_nack_lib(out, head, nack);
}

bool BoardResponder::on_frame(wire::Frame frame) {
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none) return false;
  switch (head.type) {
    case wire::PacketType::host_query:
      on_query(frame, head);
      return true;
    case wire::PacketType::host_reply:
      on_reply(frame, head);
      return true;
    case wire::PacketType::raw:
      on_discovery(frame);
      return true;
    case wire::PacketType::connect:
      on_connect(frame, head);
      return true;
    default:
      return false;
  }
}

// Tries again for each question, since the former holder may have gone.
bool BoardResponder::responsible() {
  if (open_ || claim_.held()) return true;
  if (auto claim = claim_responder(board_.interface.index)) claim_ = std::move(*claim);
  return claim_.held();
}

bool BoardResponder::repeated(NicId asker, std::uint64_t question, TimeNs now) {
  for (const RecentQuestion& recent : questions_) {
    if (recent.asker == asker && recent.question == question && recent.first &&
        now - recent.first < kForgotten)
      return now - recent.first >= kSilence;
  }
  questions_[questions_next_++ % questions_.size()] = {asker, question, now};
  return false;
}

bool BoardResponder::answers(NicId asker, std::uint64_t question) {
  if (responsible()) return true;
  const TimeNs now = clock_();
  if (!repeated(asker, question, now)) return false;
  answer_ = Claim();  // so that this claim does not block the next answer
  answer_ = claim_answer(board_.interface.index, asker, question, now / kMoment);
  return answer_.held();
}

void BoardResponder::on_query(wire::Frame frame, const wire::Head& head) {
  wire::HostQuery query;
  if (wire::decode_host_query(frame, query) != wire::Drop::none) return;
  if (head.dst != board_.interface.nic && head.dst != kBroadcastNic) return;
  peers_.add(head.src);
  // Asks before it answers: a host that has its answer may stop listening.
  if (asks_back_) {
    const auto peer = peers_.find(head.src);
    if (peer && peer->name.empty()) this->query(head.src);
  }
  if (answers(head.src, kNameQuestion)) reply(head, query);
}

void BoardResponder::reply(const wire::Head& to, const wire::HostQuery& query) {
  wire::TxFrame& out = sink_.frame_begin(0);
  const wire::Head reply_head{to.src, board_.interface.nic, query.src_dst_peer_index,
                              wire::PacketType::host_reply};
  wire::HostReply packet;
  packet.src_dst_peer_index = open_ ? kBrokerIndex : kOurIndex;
  packet.magic = query.magic;
  packet.name = board_.hostname.c_str();
  packet.name_length =
      static_cast<std::uint8_t>(std::min<std::size_t>(board_.hostname.size() + 1, wire::kHostnameMax));
  out.header_length = static_cast<std::uint32_t>(wire::encode_host_reply(out.header, reply_head, packet));
  out.segment_count = 0;
  sink_.frame_commit();
}

void BoardResponder::on_reply(wire::Frame frame, const wire::Head& head) {
  wire::HostReply reply;
  if (head.dst != board_.interface.nic) return;
  if (wire::decode_host_reply(frame, reply) != wire::Drop::none) return;
  if (reply.magic != wire::kHostQueryMagic) return;
  const std::string name(reply.name);
  if (printable(name)) peers_.learn(head.src, name);
}

void BoardResponder::on_discovery(wire::Frame frame) {
  NicId nic = 0;
  std::uint32_t serial = 0;
  if (wire::decode_discovery(frame, nic, serial) != wire::Drop::none || nic == board_.interface.nic) return;
  peers_.add(nic);
}

void BoardResponder::on_connect(wire::Frame frame, const wire::Head& head) {
  wire::Connect connect;
  if (head.dst != board_.interface.nic) return;
  if (wire::decode_connect(frame, connect) != wire::Drop::none || connect.is_reply) return;
  const bool legal = connect.dst_endpoint < endpoints_max_;
  const auto held = [&] {
    return open_ ? open_(connect.dst_endpoint) : claim_held(board_.interface.index, connect.dst_endpoint);
  };
  if (legal && held()) return;  // its holder answers
  if (!answers(head.src, connect_question(connect))) return;

  wire::TxFrame& out = sink_.frame_begin(0);
  out.header_length = static_cast<std::uint32_t>(connect_refuse(out.header, head, connect, endpoints_max_));
  out.segment_count = 0;
  sink_.frame_commit();
}

void BoardResponder::query(NicId nic) {
  wire::TxFrame& out = sink_.frame_begin(0);
  const wire::Head head{nic, board_.interface.nic, wire::kUnknownPeerIndex, wire::PacketType::host_query};
  wire::HostQuery query;
  query.src_dst_peer_index = kOurIndex;
  query.magic = wire::kHostQueryMagic;
  out.header_length = static_cast<std::uint32_t>(wire::encode_host_query(out.header, head, query));
  out.segment_count = 0;
  sink_.frame_commit();
}

void BoardResponder::announce(std::uint32_t serial) {
  wire::TxFrame& out = sink_.frame_begin(0);
  out.header_length =
      static_cast<std::uint32_t>(wire::encode_discovery(out.header, board_.interface.nic, serial));
  out.segment_count = 0;
  sink_.frame_commit();
}

}  // namespace omx::runtime
