// SPDX-License-Identifier: BSD-3-Clause
// What one endpoint is told when it opens. Defaults are those of docs/spec/protocol.md 19 unless a reason is
// given.
#pragma once

#include <cstdint>

#include "protocol/region_limits.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

class DirectReader;
class Offload;
class MemoryShare;
class Observer;
struct History;

struct Config {
  // Identity.
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  std::uint32_t key = 0;
  std::uint32_t session = 0;  // random per opening, never kUnknownSession
  std::uint32_t max_endpoints = 256;

  // Wire.
  wire::Mode mode = wire::Mode::omx;
  std::uint32_t mtu = 1500;  // of the interface
  // The largest frame that every path carries: used until a probe proved more.
  std::uint32_t base_frame = 1514;
  bool extension = true;  // send and read extension blocks
  bool checksum = false;  // ask for CRC trailers; in force with peers that ask too
  bool parks = true;      // messages without room leave their data with the sender (parked.cc)
  bool pack = true;       // let partners send us bursts of short messages in shared frames

  // The lane (lane.cc).
  wire::LaneAddress lane;               // where partners may send large messages; not present: nowhere
  std::uint32_t lane_network_bits = 0;  // of the address: a partner's must agree in them
  bool lane_at_nic = false;             // a partner's must have the address that its NIC id is made of
  bool lane_fragments = true;           // fragments of medium messages pass faster by the partner's, too
  std::uint32_t lane_window = 0;        // bytes that may be on their way to ours
  std::uint64_t lane_secret = 0;        // of answers to probes, which nobody else shall guess

  // Boards that it uses together (rails.cc), `nic` first; none: only that one. `mtu` holds for all of them.
  wire::RailNics rails;
  std::uint32_t rail_secret = 0;  // of probes, which nobody else shall answer

  // Message classes.
  std::uint32_t rndv_threshold = 32768;  // larger messages go by rendezvous; clamped to [128, medium max]
  // The same towards partners whose lane carries them: a train costs less than a rendezvous.
  std::uint32_t lane_rndv_threshold = 65536;
  // Of a large message so much may be on its way before it is asked for (unasked.cc); 0: nothing.
  std::uint32_t unasked_bytes = 65536;
  // Large sends that wait for their receives, to peers that know no pages of regions; more wait for regions.
  std::uint32_t regions_most = kRegionsMost;
  // Messages to oneself complete as those to others do, not first when their receives match.
  bool self_as_others = false;
  std::uint32_t context_bits = 0, context_shift = 0;

  // Reliability. With extended peers acknowledgements are sparser and retransmission faster than the
  // reference's constants, because selective acknowledgement says what is missing.
  std::uint32_t notacked_max = 4;  // immediate ack after so many messages; reference peers
  std::uint32_t notacked_max_extended = 32;
  TimeNs ack_delay = 16 * kMillisecond;  // reference peers
  TimeNs ack_delay_extended = 1 * kMillisecond;
  TimeNs resend_delay = 500 * kMillisecond;  // reference peers
  // Extended peers: until their round trip has been measured, and from then on at least.
  TimeNs resend_delay_extended = 20 * kMillisecond;
  TimeNs resend_delay_least = 3 * kMillisecond;
  TimeNs resend_delay_max = 1000 * kMillisecond;
  TimeNs peer_timeout = 500'000 * kMillisecond;  // no sign of life for so long: the partner is given up
  TimeNs connect_timeout = kNever;          // a connect ends after this, or after the peer time-out if sooner
  TimeNs pull_delay = 1000 * kMillisecond;  // reference peers: re-request after this silence
  TimeNs pull_delay_extended = 20 * kMillisecond;  // until the round trip has been measured
  // At least so long from then on. Longer than an owner takes a repetition for needless.
  TimeNs pull_patience_least = 3 * kMillisecond;
  TimeNs keepalive_delay = 1000 * kMillisecond;  // check a partner that owes us progress and is silent
  std::uint32_t zombie_max = 512;                // sends complete for the user before their ack

  // Bounds.
  // Unexpected messages and early frames, per endpoint. One partner's unexpected messages may take as much as
  // they leave free, that is half of what the others do not use; 64 KiB they may always take if there is
  // room. Early frames are kept only while less than half is in use.
  std::uint64_t buffer_bytes = 256ULL << 20;
  bool buffer_grows = true;  // by what `share` has
  // Of messages that were announced without their data; the rest is refused.
  std::uint64_t envelope_bytes = 4ULL << 30;
  // Medium sends copied so that they complete at once. Copies that are injected or parked may take more, of
  // `share`.
  std::uint64_t send_buffer_bytes = 16ULL << 20;
  // What the host has for all its endpoints beyond these; nullptr: nothing.
  MemoryShare* share = nullptr;
  std::uint32_t max_partners = 65536;  // about 610 bytes each
  std::uint32_t eager_frames = 256;    // eager frames a partner may have unacknowledged towards us
  std::uint32_t pull_blocks = 4;       // blocks in flight per pull
  std::uint32_t pull_window_bytes =
      2U << 20;  // of large messages in flight at most: what the receive ring holds

  // Reads large messages of senders whose memory can be reached (direct.h); usually nobody.
  DirectReader* direct = nullptr;
  // Copies arriving data (offload.h); usually nobody.
  Offload* offload = nullptr;
  // Asks for large messages by the lane (lane.cc), where the kernel puts data into their place, not an
  // Offload.
  bool lane_pulls = true;
  // Is told what is matched with what (observer.h); usually nobody.
  Observer* observer = nullptr;
  // Where the last things that happened are noted; nullptr: nowhere.
  History* history = nullptr;
};

}  // namespace omx::protocol
