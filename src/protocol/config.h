// SPDX-License-Identifier: BSD-3-Clause
// The settings of one endpoint when it opens. Defaults are those of docs/spec/protocol.md 19 unless a reason
// is given.
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

// The bulk path (bulk_trust.cc).
struct BulkConfig {
  wire::BulkAddress address;       // where peers may send large messages, if present
  std::uint32_t network_bits = 0;  // of the address that must agree with a peer's
  bool at_nic = false;             // a peer must have the address that its NIC id is made of
  bool fragments = true;           // fragments of medium messages are faster by the peer's bulk path too
  std::uint32_t window = 0;        // bytes that may be in flight to our bulk path
  std::uint64_t secret = 0;        // for answers to probes, which no other host may guess
  bool gso_frames = false;         // asks for GSO frames, and sends them when asked
  // Asks for large messages by the bulk path, where the kernel, not an Offload, puts the data into their
  // place.
  bool pulls = true;
};

// A shorter message never waits until its receiver asks for it: the request would cost as much.
inline constexpr std::uint32_t kDeferredLeast = 1024;

// With extended peers acknowledgements are sparser and retransmission is faster than with the reference's
// constants, because selective acknowledgement says what is missing.
struct ReliabilityConfig {
  // Only longer messages may be announced where others would leave unasked (eager_window.h). MX promises that
  // a message of up to 32 KiB is in its place before a later one completes (docs/spec/mx-clients.md 17). At
  // least kDeferredLeast.
  std::uint32_t defers_from = 32 * 1024;
  std::uint32_t notacked_max = 4;  // messages before an immediate acknowledgement; legacy peers
  std::uint32_t notacked_max_extended = 32;
  TimeNs ack_delay = 16 * kMillisecond;  // legacy peers
  TimeNs ack_delay_extended = 1 * kMillisecond;
  TimeNs resend_delay = 500 * kMillisecond;  // legacy peers
  // Extended peers: the delay until their round trip has been measured, and the least delay after that.
  TimeNs resend_delay_extended = 20 * kMillisecond;
  TimeNs resend_delay_least = 3 * kMillisecond;
  TimeNs resend_delay_max = 1000 * kMillisecond;
  TimeNs peer_timeout = 500'000 * kMillisecond;  // a peer without a sign of life for this time is given up
  TimeNs connect_timeout = kNever;  // a connect ends after this, or after the peer time-out if that is sooner
  TimeNs pull_delay = 1000 * kMillisecond;         // legacy peers: re-request after this silence
  TimeNs pull_delay_extended = 20 * kMillisecond;  // until the round trip has been measured
  // The least delay after that. It is longer than the time in which a sender takes a repetition as needless.
  TimeNs pull_patience_least = 3 * kMillisecond;
  // Heeds queues that mark frames (ECN, RFC 3168), and lets them mark ours.
  bool marks = true;
  TimeNs keepalive_delay = 1000 * kMillisecond;  // check a silent peer that owes us progress
};

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
  // The largest frame that every path carries. It is used until a probe has proven more.
  std::uint32_t base_frame = 1514;
  bool extension = true;  // send and read extension blocks
  bool checksum = false;  // ask for CRC trailers; used with peers that ask too
  bool parks = true;      // messages without room leave their data with the sender (parked.cc)
  bool lone = true;      // short messages that nothing stands in the way of take the short way (lone_send.cc)
  bool coalesce = true;  // let peers send us bursts of short messages in one frame (coalescing)

  BulkConfig bulk;

  // The boards that the endpoint uses together (rails.cc), `nic` first. Empty: only `nic`. `mtu` holds for
  // all of them.
  wire::RailNics rails;
  std::uint32_t rail_secret = 0;  // for probes, which no other host may answer

  // Message classes.
  std::uint32_t rndv_threshold = 32768;  // larger messages go by rendezvous; clamped to [128, medium max]
  // The threshold towards peers whose bulk path carries the message, or a frame of 32 KiB or more: a GSO
  // batch or one frame costs less than a rendezvous.
  std::uint32_t bulk_rndv_threshold = 65536;
  // Bytes of a large message that may be sent as unscheduled data (unscheduled.cc). 0: none.
  std::uint32_t unscheduled_bytes = 65536;
  // Large sends that wait for their receives, to peers that know no pages of regions. More wait for regions.
  std::uint32_t regions_most = kRegionsMost;
  // Messages to this endpoint itself complete like those to others, not only when their receives match.
  bool self_as_others = false;
  std::uint32_t context_bits = 0, context_shift = 0;

  ReliabilityConfig reliability;
  std::uint32_t buffered_sends_max =
      512;  // buffered sends: complete for the user before they are acknowledged

  // Bounds.
  // Bytes of unexpected messages and early frames, per endpoint. The unexpected messages of one peer may take
  // half of what the others leave free. They may always take 64 KiB if there is room. Early frames are kept
  // only while less than half is in use.
  std::uint64_t buffer_bytes = 256ULL << 20;
  bool buffer_grows = true;  // by what `share` has
  // Bytes of messages that were announced without their data. More are refused.
  std::uint64_t envelope_bytes = 4ULL << 30;
  // Bytes of medium sends that are copied so that they complete at once. Copies of injected or parked sends
  // may take more, from `share`.
  std::uint64_t send_buffer_bytes = 16ULL << 20;
  // Memory of the host for all its endpoints beyond these bounds; nullptr: none.
  MemoryShare* share = nullptr;
  std::uint32_t max_peers = 65536;   // about 610 bytes each
  std::uint32_t eager_frames = 256;  // eager frames that a peer may have unacknowledged towards us
  std::uint32_t pull_blocks = 4;     // blocks in flight per pull
  std::uint32_t pull_window_bytes =
      2U << 20;  // bytes of large messages in flight at most: what the receive ring holds
  // Both off: as the original, which had neither. Senders mark the end only of those blocks that should wake
  // us; off: of every block.
  bool pull_quiet = true;
  // A window bounds what all large messages have in flight, and senders take turns; off: only pull_blocks.
  bool pull_window = true;

  // Reads large messages of senders whose memory is accessible (direct.h); usually nullptr.
  DirectReader* direct = nullptr;
  // Copies arriving data (offload.h); usually nullptr.
  Offload* offload = nullptr;
  // Reports what is matched with what (observer.h); usually nullptr.
  Observer* observer = nullptr;
  // Records the last events; nullptr: they are not recorded.
  History* history = nullptr;
};

}  // namespace omx::protocol
