// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/frames.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "protocol/state/rail_paths.h"

namespace omx::protocol {

wire::Head rail_head(const State& s, const Peer& p, wire::PacketType type, unsigned rail) {
  const Rails& rails = *p.rails;
  return {rails.peer.nics[rails.paths[rail].to], s.config.rails.nics[rail], p.session.peer_index, type};
}

wire::Head frame_head(const State& s, const Peer& p, wire::PacketType type) {
  if (p.rails) [[unlikely]]
    return rail_head(s, p, type, p.rails->home);
  return {p.nic, s.config.nic, p.session.peer_index, type};
}

std::uint8_t frame_flags(const Peer& p, bool urgent) {
  std::uint8_t flags = 0;
  if (p.agreed.checksum) flags |= wire::kFlagChecksum;
  if (urgent && (p.agreed.features & wire::kFeatureMark)) flags |= wire::kFlagUrgent;
  return flags;
}

void frame_finish_header(wire::TxFrame& frame) {
  // The MAC addresses are left out: see codec.h.
  const std::uint32_t crc = crc32c(0, frame.header + 12, frame.header_length - 12);
  store_be32(frame.header + frame.header_length, crc);
  frame.header_length += wire::kChecksumBytes;
}

void frame_finish(State& s, wire::TxFrame& frame, bool checksum) {
  if (checksum && frame.segment_count == 0) {
    frame_finish_header(frame);
  } else if (checksum) {
    std::uint32_t crc = crc32c(0, frame.header + 12, frame.header_length - 12);
    for (std::uint32_t i = 0; i < frame.segment_count; i++)
      crc = crc32c(crc, frame.segments[i].iov_base, frame.segments[i].iov_len);
    // The trailer follows the payload; its bytes live at the end of the header buffer.
    std::byte* trailer = frame.header + wire::kHeaderCapacity - wire::kChecksumBytes;
    store_be32(trailer, crc);
    frame.segments[frame.segment_count++] = {trailer, wire::kChecksumBytes};
  }
  s.sink.frame_commit();
}

}  // namespace omx::protocol
