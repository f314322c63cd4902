// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/oracle.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bytes.h"
#include "protocol/state/rails.h"
#include "protocol/state/sizes.h"
#include "tests/fuzz/require.h"

namespace omx::fuzz {

namespace {

// The most frames that one frame causes by itself. A PULL is answered with at most 64 replies. A PULL_REPLY
// that shows gaps makes the victim request every run of missing frames again: at most every second frame of 8
// blocks of 32.
constexpr std::uint64_t kAnswers = 8 * 32 / 2;
// Beside that, an acknowledgement sets free, or a bitmap repeats, messages of the application to that peer,
// at most 64 frames each. A message that fills a hole releases all messages that waited behind it. A large
// one among these requests 8 blocks, or is answered.
constexpr std::uint64_t kFramesPerMessage = protocol::kMaxFragments + 1;  // and an announcement
constexpr std::uint64_t kFramesPerEarly = protocol::kPullBlocksStriped + 1;
// Acknowledgement, ping, probe and connect-back; and a probe by the bulk path, its announcement, and the
// answer to one.
constexpr std::uint64_t kControl = 7;

struct Held {
  std::uint64_t messages = 0, early = 0;
};

Held held(protocol::State& s) {
  Held total;
  for (Peer* p : s.peers.by_index) {
    for (auto* list : {&p->tx.unacked, &p->tx.queued, &p->tx.connects})
      for (Request* r = list->front(); r; r = list->next(*r)) total.messages++;
    if (p->rx.reorder) total.early += p->rx.reorder->frames;
  }
  return total;
}

// Checks the accounts of the pull schedule. The bytes in flight are those charged to the pulls. No pull is
// charged with more than it misses of what it requested.
void check_schedule(protocol::State& s) {
  std::uint64_t charges = 0, running = 0, senders = 0;
  for (protocol::Pull* pull = s.transfers.pull_list.front(); pull; pull = s.transfers.pull_list.next(*pull)) {
    std::uint64_t missing = 0;
    for (std::uint32_t i = 0; i < pull->block_count; i++)
      missing += static_cast<std::uint64_t>(std::popcount(pull->block(i).missing));
    const std::uint64_t charge =
        std::accumulate(pull->charges.begin(), pull->charges.end(), std::uint64_t{0});
    REQUIRE(charge <= missing * pull->unit);
    charges += charge;
    running++;
  }
  std::uint64_t in_flight = 0;
  for (unsigned rail = 0; rail < protocol::kRailsMost; rail++) in_flight += s.pulling.port(rail).in_flight;
  REQUIRE(in_flight == charges);
  for (Peer* p : s.peers.by_index) {
    const std::uint64_t its = p->rx.pulls ? p->rx.pulls->running : 0;
    REQUIRE(running >= its);
    running -= its;
    senders += its > 0;
  }
  REQUIRE(running == 0);
  REQUIRE(s.pulling.senders == senders);
}

// Checks that every further board of a peer leads to that peer only, and that none of them is the victim's.
void check_rails(protocol::State& s) {
  std::size_t aliases = 0;
  for (Peer* p : s.peers.by_index) {
    if (!p->rails) continue;
    const protocol::Rails& rails = *p->rails;
    REQUIRE(rails.count == s.config.rails.count && rails.home < rails.count);
    REQUIRE(rails.peer.nics[0] == p->nic);
    for (std::size_t i = 0; i < rails.peer.count; i++)
      REQUIRE(s.config.rails.place(rails.peer.nics[i]) == protocol::kRailsMost);
    for (const protocol::RailPath& path : rails.paths) REQUIRE(path.to < rails.peer.count);
    aliases += rails.peer.count - 1U;
  }
  REQUIRE(s.rails.rail_aliases.size() == aliases);
  for (const auto& [key, p] : s.rails.rail_aliases)
    REQUIRE(p->rails && p->rails->peer.place(key >> 8) != protocol::kRailsMost);
}

// Each part that only some peers have belongs to exactly one peer.
void check_parts(protocol::State& s) {
  std::size_t partials = 0, pulling = 0, pulls = 0, distrusts = 0, waiting = 0;
  for (Peer* p : s.peers.by_index) {
    partials += p->rx.partial != nullptr;
    pulling += p->rx.pulls != nullptr;
    if (p->rx.pulls) REQUIRE(p->rx.pulls->count > 0 && p->rx.pulls->running <= p->rx.pulls->count);
    pulls += p->rx.pulls ? p->rx.pulls->count : 0;
    distrusts += p->bulk.distrust != nullptr;
    waiting += p->tx.region_blocked;
  }
  REQUIRE(s.memory.partials.live() == partials);
  REQUIRE(s.memory.peer_pulls.live() == pulling);
  REQUIRE(s.memory.pulls.live() == pulls);
  REQUIRE(s.memory.bulk_distrusts.live() == distrusts);
  for (const Peer* p = s.region_waiters.front(); p; p = p->region_next) {
    REQUIRE(p->tx.region_blocked);
    waiting--;
  }
  REQUIRE(waiting == 0);
}

}  // namespace

void check_bounds(Scene& scene) {
  protocol::State& s = scene.state();
  // Messages of the application to itself are its own requests, and do not count.
  std::size_t own = 0;
  for (protocol::Unexpected* u = s.matching.unexpected.front(); u; u = s.matching.unexpected.next(*u))
    if (u->self_send) own += sizeof(protocol::Unexpected);
  REQUIRE(s.buffers_held() <= s.config.buffer_bytes + own);
  REQUIRE(s.memory.buffers.kept() + s.memory.buffers.in_use() <= s.config.buffer_bytes);
  REQUIRE(s.memory.send_buffers.in_use() <= s.config.send_buffer_bytes);
  REQUIRE(s.peers.by_index.size() <= s.config.max_peers);
  REQUIRE(s.memory.reorder_buffers.live() <= s.peers.by_index.size());
  REQUIRE(s.memory.pulls.live() <= s.memory.requests.live());
  REQUIRE(s.completion.buffered_sends <= s.config.buffered_sends_max + s.memory.requests.live());
  REQUIRE(s.regions.used() <= s.memory.requests.live());
  REQUIRE(s.room.envelopes * sizeof(protocol::Unexpected) <= s.config.envelope_bytes);
  REQUIRE(s.room.parked_bytes <= s.memory.send_buffers.in_use());
  check_parts(s);
  check_schedule(s);
  check_rails(s);
}

std::uint64_t answer_limit(protocol::State& s) {
  const Held h = held(s);
  // If a board is suspected, all running blocks are requested again by another one, and every board is
  // probed.
  const std::uint64_t rails =
      protocol::rails_used(s)
          ? s.memory.pulls.live() * protocol::kPullBlocksStriped * 16 + s.peers.by_index.size() * 4
          : 0;
  return rails + kAnswers + h.messages * kFramesPerMessage + h.early * kFramesPerEarly +
         s.peers.by_index.size() * kControl;
}

std::uint64_t wake_limit(protocol::State& s) {
  return 64 + 16 * s.peers.by_index.size() + 8 * s.memory.requests.live();
}

void check_leak(const Bytes& frame) {
  std::size_t at = 0, length = 0;
  const auto type = static_cast<wire::PacketType>(frame[16]);
  switch (type) {
    case wire::PacketType::tiny:
    case wire::PacketType::small:
      at = 40;
      length = load_be16(frame.data() + 20);
      break;
    case wire::PacketType::medium:
      at = 48;
      length = load_be16(frame.data() + 40);
      break;
    case wire::PacketType::pull_reply:
      at = 32;
      length = load_be16(frame.data() + 18);
      break;
    default:
      return;
  }
  const bool extension =
      type != wire::PacketType::pull_reply && (load8(frame.data() + 19) & wire::kFlagHeaderExt);
  if (extension) at += wire::kHeaderExtBytes;
  REQUIRE(at + length <= frame.size());
  const auto data = frame.begin() + static_cast<std::ptrdiff_t>(at);
  REQUIRE(std::all_of(data, data + static_cast<std::ptrdiff_t>(length),
                      [](std::byte b) { return b < std::byte{0x80}; }));
}

}  // namespace omx::fuzz
