// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/probe.h"

#include <algorithm>

#include "protocol/actions/frames.h"
#include "protocol/counters.h"
#include "protocol/state/resend_time.h"
#include "protocol/state/sizes.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::protocol {

namespace {

constexpr std::uint8_t kTries = 4;
constexpr TimeNs kFirstDelay = 20 * kMillisecond;
constexpr TimeNs kRetryLater = 30'000 * kMillisecond;
// An endpoint may meet many peers at once, as in a job that starts. It would fill their ports with probes of
// frames that few of them ever need. Beyond this number a peer is probed with its first large message.
constexpr std::uint32_t kProbesAtOnce = 16;
constexpr TimeNs kAtOnce = 10 * kMillisecond;

// Sizes that are tried after the agreed one: jumbo frames, the MX frame, half a page. By UDP, peers may begin
// with less than Ethernet's frame. They then try what 1500 bytes hold behind IPv4 and IPv6, and what most
// tunnels leave.
constexpr std::uint32_t kLadder[] = {9014, 4158, 2048, 1472, 1452, 1400};

enum class Road { link, bulk, alone };  // alone: by the bulk path, in a datagram of its own

struct RailTo {
  unsigned rail = 0;  // our board
  NicId nic = 0;      // the peer's
};

void transmit(State& s, Peer& p, std::uint32_t size, bool is_reply, std::uint32_t cookie,
              std::uint8_t flags = 0, Road road = Road::link, const RailTo* rail = nullptr) {
  static const std::byte zeros[4096] = {};
  wire::Probe packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.flags = frame_flags(p, (flags & wire::kFlagBulkProbe) != 0) | flags;
  packet.is_reply = is_reply;
  packet.session = p.reply_session();
  packet.size = size;
  packet.cookie = cookie;
  wire::TxFrame& frame = road != Road::link ? s.sink.bulk_begin(p.bulk.address, 64)
                         : rail             ? s.sink.rail_begin(rail->rail, 64)
                                            : frame_begin(s, p, 64);
  auto head = frame_head(s, p, wire::PacketType::probe);
  if (rail) {
    head.dst = rail->nic;
    head.src = s.config.rails.nics[rail->rail];
  }
  frame.header_length = static_cast<std::uint32_t>(wire::encode_probe(frame.header, head, packet));
  frame.segment_count = 0;
  frame.alone = road == Road::alone;
  const bool checksum = p.agreed.checksum;
  std::uint32_t padding = size - frame.header_length;
  if (checksum) {
    // The trailer stands right behind the header, which is all that the packet's length fields cover.
    frame_finish_header(frame);
    padding -= wire::kChecksumBytes;
  }
  while (padding > 0) {
    const std::uint32_t piece = std::min<std::uint32_t>(padding, sizeof zeros);
    frame.segments[frame.segment_count++] = {const_cast<std::byte*>(zeros), piece};
    padding -= piece;
  }
  s.sink.frame_commit();
  s.count(flags & wire::kFlagBulkProbe ? Counter::send_announcement : Counter::send_probe)++;
}

// Probes again later, because paths are repaired, and a probe may have been lost for another reason than its
// size.
void try_later(State& s, Peer& p) {
  p.liveness.probe_size = p.agreed.frame_agreed;
  p.liveness.probe_due = s.now + kRetryLater;
  p.agreed.probe_tries = kTries - 1;
}

}  // namespace

void probe_proven(State& s, Peer& p, std::uint32_t size) {
  p.agreed.frame_max = size;
  p.liveness.probe_size = 0;
  if (size < p.agreed.frame_agreed) try_later(s, p);
  peer_update_sizes(s, p);
}

void probe_at_connect(State& s, Peer& p) {
  if (s.now - s.probing.probes_since > kAtOnce) {
    s.probing.probes_since = s.now;
    s.probing.probes_sent = 0;
  }
  if (s.probing.probes_sent++ < kProbesAtOnce)
    probe_start(s, p);
  else
    p.agreed.probe_wanted = true;
}

void probe_start(State& s, Peer& p) {
  p.agreed.probe_wanted = false;
  if (p.agreed.frame_max >= p.agreed.frame_agreed || p.agreed.mode != wire::Mode::omx)
    return;  // the MTU or mode changed meanwhile
  p.liveness.probe_size = p.agreed.frame_agreed;
  p.agreed.probe_tries = 0;
  p.liveness.probe_due = s.now;
  probe_tick(s, p);
  s.timers.arm_by(p.resend_timer, p.liveness.probe_due);
}

void probe_bulk(State& s, Peer& p, BulkProbe which, std::uint32_t size, std::uint32_t cookie) {
  const auto flags =
      static_cast<std::uint8_t>(which == BulkProbe::look ? wire::kFlagBulkProbe : wire::kFlagBulk);
  const Road road = which == BulkProbe::by_bulk ? Road::bulk
                    : which == BulkProbe::alone ? Road::alone
                                                : Road::link;
  transmit(s, p, size, which == BulkProbe::seen, cookie, flags, road);
}

void probe_rail(State& s, Peer& p, unsigned rail, NicId to, std::uint32_t size, bool is_reply,
                std::uint32_t cookie) {
  const RailTo by{rail, to};
  transmit(s, p, size, is_reply, cookie, wire::kFlagRail, Road::link, &by);
}

void probe_reply(State& s, Peer& p, const wire::Probe& packet) {
  transmit(s, p, packet.size, true, packet.cookie);
}

void probe_tick(State& s, Peer& p) {
  if (!p.liveness.probe_size || s.now < p.liveness.probe_due) return;
  if (p.agreed.probe_tries >= kTries) {
    p.agreed.probe_tries = 0;
    std::uint32_t next = 0;
    for (const std::uint32_t size : kLadder)
      if (size < p.liveness.probe_size && size > p.agreed.frame_max) {
        next = size;
        break;
      }
    if (!next) return try_later(s, p);  // nothing larger gets through
    p.liveness.probe_size = next;
  }
  transmit(s, p, p.liveness.probe_size, false, p.liveness.probe_size);
  p.liveness.probe_due = s.now + peer_spread(s, p, kFirstDelay << p.agreed.probe_tries);
  p.agreed.probe_tries++;
}

void probe_fall_back(State& s, Peer& p) {
  if (!p.larger_frames_than(s.config.base_frame)) return;
  s.count(Counter::mtu_fallback)++;
  p.agreed.frame_max = std::min(p.agreed.frame_agreed, s.config.base_frame);
  p.agreed.frame_in = 0;
  peer_update_sizes(s, p);
  probe_start(s, p);
}

}  // namespace omx::protocol
