// SPDX-License-Identifier: BSD-3-Clause
// A running receive of a large message. The receiver asks for blocks of frames and has several blocks in
// flight (docs/spec/protocol.md 8.3, docs/spec/wire.md 4.5).
#pragma once

#include <algorithm>
#include <array>

#include "base/list.h"
#include "protocol/offload.h"
#include "protocol/state/timer.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Request;

// Most blocks in flight of a pull. A striped pull has more, because blocks of slow boards wait in between.
inline constexpr std::size_t kPullBlocksMax = 8, kPullBlocksStriped = 16;
inline constexpr std::size_t kPullSlots = 1024;

// --- A pull ---
//
//   waiting --a slot--> wanting --its turn--> asked --all blocks whole--> ended (NOTIFY)
//                          ^                    |
//                          +--a block is whole--+--all data here, copies are not--> copying --> ended
//
// waiting: the pull has no handle (state.transfers.pull_waiting).
// wanting: it may ask for more (rx.pulls->wanting of the peer).
// asked: all blocks that it may have in flight are in flight. pull_timer() asks again for missing frames, and
// starts over with another handle when the frame size changed.
// copying: it is in state.transfers.pull_copying.
// A pull inside the host may be shared instead: asked for and read at once (state.transfers.pull_sharing).
// From every state it ends when it is refused or the conversation ends.

struct PullBlock {
  std::uint32_t first = 0;  // frame index
  std::uint32_t frames = 0;
  std::uint64_t missing = 0;            // bit i: frame first + i
  bool end_missed = false;              // asked again because the last frame of all came before others of it
  bool repeated = false;                // some of it was asked for more than once ...
  bool repeated_again = false;          // ... more than twice
  bool untouched = true;                // no reply yet
  bool unscheduled = false;             // comes without having been asked for
  std::uint8_t rail = 0;                // board by which it was asked for last
  TimeNs asked_at = 0, asked_last = 0;  // first, and last for missing frames
  TimeNs passed_at = 0;                 // when frames of a later request came first; 0: not so far
  std::uint64_t asked = 0;              // state.pulling.asked at that time
};

struct Pull {
  Pull() : timer(TimerKind::pull) {}

  Request* request = nullptr;
  Peer* peer = nullptr;
  std::uint32_t handle = 0;  // slot << 22 | generation
  std::uint32_t region = 0;
  std::uint8_t region_generation = 0;
  std::uint32_t region_offset = 0;
  std::uint32_t length = 0;      // bytes to transfer
  std::uint16_t tail = 0;        // bytes behind them, which came with the RNDV
  std::uint32_t unit = 0;        // M: data bytes of a full frame
  std::uint32_t shift = 0;       // o: by how much the first frame is shorter
  std::uint32_t frames = 0;      // frames of the whole transfer
  std::uint32_t next_frame = 0;  // first not yet asked for
  std::uint32_t rings_at = 0;    // the answer before this frame wakes us, though all is asked for; 0: none
  std::uint32_t blocks_max = 0;
  OffloadTickets copies;
  TimeNs copies_since = 0;            // since when it waits for nothing else
  std::uint32_t unscheduled_key = 0;  // see unscheduled.cc
  bool leave = false;                 // the sender may add unscheduled data to its next message
  bool by_bulk = false;               // laid out for the bulk path, and asked for by it while it is trusted
  bool gso = false;                   // asked for in GSO frames
  bool paced = false;                 // counts for the pace of the schedule
  bool share = false;                 // read from its end while frames come (pull_share.cc) ...
  bool asks = false;                  // ... that were asked for
  std::array<PullBlock, kPullBlocksStriped> blocks;  // ring of blocks in flight
  std::uint32_t first_block = 0;
  std::uint32_t block_count = 0;
  std::uint32_t silent_rounds = 0;  // timer rounds without any reply
  TimeNs began = 0;                 // of a shared one, once it is worked on
  TimeNs last_reply = 0;
  TimeNs quiet_since = 0;  // last reply or last request for a new block
  TimeNs last_asked = 0;   // when all missing frames were last asked for
  Timer timer;
  ListHook all;
  ListHook unscheduled_hook;  // state.unscheduled
  // Members of the schedule (pull_schedule.cc).
  std::uint32_t age = 0;  // grows from pull to pull
  // Bytes asked for that have not arrived, by board. Bytes that the sender keeps for too long are left out.
  std::array<std::uint32_t, wire::kRailsMost> charges{};
  ListHook wanting;  // rx.pulls->wanting of the peer

  PullBlock& block(std::uint32_t i) { return blocks[(first_block + i) % kPullBlocksStriped]; }
};

// Forgets the oldest blocks in flight that are whole.
inline void pull_blocks_pop(Pull& pull) {
  while (pull.block_count > 0 && pull.block(0).missing == 0) {
    pull.first_block = (pull.first_block + 1) % kPullBlocksStriped;
    pull.block_count--;
  }
}

// Lays the message out in frames with `unit` data bytes.
inline void pull_lay_out(Pull& pull, std::uint32_t unit) {
  pull.unit = unit;
  pull.shift = pull.region_offset % unit;
  pull.frames = static_cast<std::uint32_t>((std::uint64_t{pull.length} + pull.shift + unit - 1) / unit);
}

// Returns where a frame begins in the message. pull_frame_end() returns where it ends.
inline std::uint64_t pull_frame_start(const Pull& pull, std::uint64_t index) {
  return index == 0 ? 0 : index * pull.unit - pull.shift;
}
inline std::uint64_t pull_frame_end(const Pull& pull, std::uint64_t index) {
  return std::min<std::uint64_t>((index + 1) * pull.unit - pull.shift, pull.length);
}

// Frames that were asked for and have not come, in the order of the requests (pull_expect.cc).
struct PullExpected {
  struct Asked {
    std::uint32_t handle = 0;
    std::uint32_t first = 0, frames = 0;
    bool again = false;  // an earlier entry may hold the same frames
  };
  std::array<Asked, 64> asked;  // ring; older entries are forgotten, which costs copies only
  std::uint32_t front = 0, count = 0;
  Asked& at(std::uint32_t i) { return asked[(front + i) % asked.size()]; }
};

struct PullSlot {
  Pull* pull = nullptr;
  std::uint32_t generation = 1;
};

}  // namespace omx::protocol
