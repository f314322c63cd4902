// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/sizes.h"

#include <algorithm>
#include <bit>

#include "protocol/direct.h"
#include "protocol/types.h"
#include "wire/packets.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

namespace {

// Returns sizes with the largest power of two that fits an MX-style fragment in `frame` bytes. Receivers
// honour the announced unit for medium messages. For pulls both sides must have the same MTU
// (docs/spec/wire.md 5).
wire::Sizes mxoe_sizes(std::uint32_t frame, std::uint32_t overhead) {
  const auto unit =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(4096, std::bit_floor(frame - 48 - overhead)));
  return {unit, unit, 8, unit == 4096 ? std::uint8_t{8} : std::uint8_t{32}};
}

}  // namespace

std::uint32_t peer_overhead(const Peer& p) {
  return p.agreed.checksum ? wire::kChecksumBytes : 0;
}

std::uint32_t bulk_frame(const State& s, const Peer& p) {
  return std::min(s.config.bulk.address.frame, p.bulk.address.frame);
}

void bulk_resize(State& s, std::uint32_t own_frame_before) {
  std::uint16_t& frame = s.config.bulk.address.frame;
  if (!s.config.bulk.address.present()) return;
  const std::int64_t grown = std::int64_t{frame} + s.own_frame - own_frame_before;
  frame = static_cast<std::uint16_t>(std::clamp<std::int64_t>(grown, kMtuLeast, wire::kGsoBatchBytes));
}

wire::Sizes bulk_sizes(const State& s, const Peer& p) {
  return wire::extended_sizes(p.agreed.mode, bulk_frame(s, p), peer_overhead(p));
}

void peer_update_sizes(State& s, Peer& p) {
  if (p.agreed.mode == wire::Mode::mxoe) {
    p.agreed.sizes = mxoe_sizes(p.agreed.extended ? p.agreed.frame_agreed : s.own_frame, peer_overhead(p));
  } else if (p.agreed.extended) {
    p.agreed.sizes = wire::extended_sizes(p.agreed.mode, p.agreed.frame_max, peer_overhead(p));
    p.agreed.sizes.pull_reply_max =
        wire::extended_sizes(p.agreed.mode, std::max(p.agreed.frame_max, p.agreed.frame_in), peer_overhead(p))
            .pull_reply_max;
    if (p.bulk.address.present())
      p.agreed.sizes.medium_frag = std::min(p.agreed.sizes.medium_frag, bulk_sizes(s, p).medium_frag);
    p.agreed.sizes.medium_frag -= wire::kHeaderExtBytes;
    p.agreed.sizes.medium_frags = kMaxFragments;
  } else {
    p.agreed.sizes = wire::legacy_sizes(p.agreed.mode, s.config.mtu);
  }
  std::uint32_t limit = p.agreed.sizes.medium_max();
  if (p.agreed.mode == wire::Mode::mxoe) limit = std::min<std::uint32_t>(limit, 32768);  // 16-bit lengths
  if (p.agreed.extended && p.agreed.mode == wire::Mode::omx && p.agreed.intra_node_frame == 0)
    limit = std::min(limit, base_medium_max(s));
  const std::uint32_t wanted = p.agreed.intra_node_frame
                                   ? s.config.direct->path(p.nic, p.endpoint).rndv_threshold
                                   : s.config.rndv_threshold;
  p.agreed.rndv_threshold = std::clamp<std::uint32_t>(wanted, wire::kSmallMax, limit);
}

namespace {

// Returns the length up to which a message costs one frame, however long. Frames of less than this are not
// worth a rule of their own.
std::uint32_t one_frame(const Peer& p) {
  constexpr std::uint32_t kLongFrame = 32768;
  const bool by_link =
      p.agreed.extended && p.agreed.mode == wire::Mode::omx && p.agreed.intra_node_frame == 0;
  return by_link && p.agreed.sizes.medium_frag >= kLongFrame ? p.agreed.sizes.medium_frag : 0;
}

}  // namespace

std::uint32_t eager_limit(const State& s, const Peer& p) {
  const bool batches = p.bulk.out || (p.bulk.address.present() && !s.config.bulk.fragments);
  const std::uint32_t carried = batches ? p.agreed.sizes.medium_max() : one_frame(p);
  const std::uint32_t most = std::min(carried, base_medium_max(s));
  return std::max(std::min(s.config.bulk_rndv_threshold, most), p.agreed.rndv_threshold);
}

std::uint32_t medium_unit(const Peer& p) {
  return p.agreed.sizes.medium_frag;
}

std::uint32_t medium_frames(const Peer& p, std::uint32_t length) {
  return (length + medium_unit(p) - 1) / medium_unit(p);
}

std::uint32_t medium_frames_in(const State& s, const Peer& p, std::uint32_t length) {
  const std::uint32_t base = s.config.base_frame - kFragmentHeaders;
  const bool proven = p.agreed.frame_in >= p.agreed.frame_max;
  const std::uint32_t unit = proven ? medium_unit(p) : std::min(base, medium_unit(p));
  return (length + unit - 1) / unit;
}

bool medium_fits(const Peer& p, const Request& r) {
  return r.kind != RequestKind::send || r.send_class != SendClass::medium ||
         r.msg_length <= kMaxFragments * medium_unit(p);
}

std::uint32_t bulk_unit(const State& s, const Peer& p, std::uint32_t length) {
  const std::uint32_t most = medium_unit(p), overhead = bulk_frame(s, p) - bulk_sizes(s, p).medium_frag;
  const std::uint32_t unit = wire::gso_batch_unit(length, most, overhead);
  return (length + unit - 1) / unit <= kMaxFragments ? unit : most;
}

bool medium_whole(const State& s, const Peer& p, std::uint32_t unit, std::uint32_t fragments) {
  const std::uint32_t datagram = bulk_frame(s, p);
  return fragments <= (unit > datagram ? 1 : wire::gso_batch_frames(datagram));
}

}  // namespace omx::protocol
