// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/trace.h"

#include <fmt/format.h>

#include "wire/codec.h"
#include "wire/names.h"

namespace omx::simulation {

namespace {

// Returns the number with its session count in front: "1:37".
std::string number(std::uint16_t seqnum) {
  return fmt::format("{}:{}", seqnum >> 14, seqnum & 0x3FFF);
}

std::string message(const wire::Message& m) {
  return fmt::format("number {} ack {} match {:#x}", number(m.seqnum), number(m.piggyack), m.match_info);
}

// Returns the fields of a frame. The frame does not name its wire mode, so `omx` is assumed.
std::string details(const SimFrame& frame) {
  const wire::Frame in(frame.bytes);
  const std::byte* data = nullptr;
  const auto good = [](wire::Drop drop) { return drop == wire::Drop::none; };
  switch (frame.type()) {
    case wire::PacketType::tiny:
    case wire::PacketType::small:
      if (wire::Eager p; good(wire::decode_eager(in, true, p, &data)))
        return fmt::format("{} length {}", message(p), p.length);
      break;
    case wire::PacketType::medium:
      if (wire::Medium p; good(wire::decode_medium(in, wire::Mode::omx, true, p, &data)))
        return fmt::format("{} fragment {}, message of {} bytes", message(p), p.frag_seqnum, p.length);
      break;
    case wire::PacketType::rndv:
      if (wire::Rndv p; good(wire::decode_rndv(in, true, p, &data)))
        return fmt::format("{} length {} region {}.{}", message(p), p.msg_length, p.rdma_id, p.rdma_seqnum);
      break;
    case wire::PacketType::pull:
      if (wire::Pull p; good(wire::decode_pull(in, wire::Mode::omx, true, p)))
        return fmt::format("region {}.{} handle {:#x} frame {} bytes {}", p.rdma_id, p.rdma_seqnum,
                           p.pull_handle, p.frame_index, p.block_length);
      break;
    case wire::PacketType::pull_reply:
      if (wire::PullReply p; good(wire::decode_pull_reply(in, true, p, &data)))
        return fmt::format("handle {:#x} frame {} at {} bytes {}", p.pull_handle, p.frame_seqnum,
                           p.msg_offset, p.frame_length);
      break;
    case wire::PacketType::notify:
      if (wire::Notify p; good(wire::decode_notify(in, true, p)))
        return fmt::format("number {} ack {} region {}.{} length {}", number(p.seqnum), number(p.piggyack),
                           p.rdma_id, p.rdma_seqnum, p.total_length);
      break;
    case wire::PacketType::truc:
      if (wire::Truc p; good(wire::decode_truc(in, true, p)))
        return fmt::format("ack {} count {}{}", number(p.seqnum), p.acknum, p.has_sack ? " with bitmap" : "");
      break;
    case wire::PacketType::connect:
      if (wire::Connect p; good(wire::decode_connect(in, p)))
        return fmt::format("{} {} session {:#x} {:#x} start {} generation {} peer's {}{} status {}",
                           p.is_reply ? "reply" : "request", p.connect_seqnum, p.src_session,
                           p.key_or_target_session, number(p.target_recv_seqnum_start), p.ext.generation,
                           p.ext.peer_generation, p.ext.peer_generation_in_use ? "" : " given up", p.status);
      break;
    case wire::PacketType::nack_lib:
      if (wire::NackLib p; good(wire::decode_nack_lib(in, true, p)))
        return fmt::format("number {} code {}", number(p.seqnum), static_cast<int>(p.code));
      break;
    case wire::PacketType::nack_mcp:
      if (wire::NackMcp p; good(wire::decode_nack_mcp(in, true, p)))
        return fmt::format("handle {:#x} code {}", p.pull_handle, static_cast<int>(p.code));
      break;
    default:
      return "";
  }
  return "unreadable";
}

}  // namespace

std::string frame_text(const SimFrame& frame) {
  const NicId to = frame.destination();
  return fmt::format("#{} {}->{} {} {} ({} bytes)", frame.number, frame.from, (to & 0xFFFF) - 1,
                     wire::packet_type_name(frame.type()), details(frame), frame.bytes.size());
}

void Trace::frame(TimeNs now, const char* what, const SimFrame& frame) {
  line(now, fmt::format("{}: {}", what, frame_text(frame)));
}

void Trace::line(TimeNs now, const std::string& text) {
  fmt::print(out_, "{:12.6f} ms {}\n", static_cast<double>(now) / 1e6, text);
}

}  // namespace omx::simulation
