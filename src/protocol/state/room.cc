// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/room.h"

#include <algorithm>
#include <utility>

#include "base/buffer_pool.h"
#include "protocol/memory_share.h"
#include "protocol/state/matching.h"
#include "protocol/state/peer.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

constexpr std::size_t kShareAlways = 64 * 1024;  // see Config::buffer_bytes
constexpr std::size_t kStep = 1U << 20;

std::size_t steps(std::size_t bytes) {
  return (bytes + kStep - 1) / kStep * kStep;
}

// Takes memory from the host's share. Returns false when the host does not even have what is needed now.
bool grow(State& s, BufferPool& pool, std::size_t& granted, std::size_t needed) {
  if (!s.config.share) return false;
  const std::size_t least = steps(needed);
  std::size_t more = std::max(least, steps(pool.limit() / 4));
  if (!s.config.share->take(more)) {
    more = least;
    if (!s.config.share->take(more)) return false;
  }
  granted += more;
  pool.set_limit(pool.limit() + more);
  return true;
}

void shrink(State& s, BufferPool& pool, std::size_t& granted, std::size_t held) {
  if (granted == 0 || held > pool.limit() / 4) return;
  const std::size_t base = pool.limit() - granted;
  const std::size_t wanted = held * 2 > base ? steps(held * 2 - base) : 0;
  if (wanted >= granted) return;
  pool.set_limit(base + wanted);
  s.config.share->give(granted - wanted);
  granted = wanted;
}

bool grow_in(State& s, std::size_t needed) {
  return s.config.buffer_grows && grow(s, s.memory.buffers, s.room.granted_in, needed);
}

}  // namespace

bool room_for(State& s, const Peer& p, std::size_t bytes) {
  const std::size_t held = s.buffers_held();
  const std::size_t after = held + sizeof(Unexpected) + (bytes > 0 ? BufferPool::capacity_of(bytes) : 0);
  if (after > s.memory.buffers.limit() && !grow_in(s, after - s.memory.buffers.limit())) return false;
  const std::size_t envelopes = p.rx.envelopes * sizeof(Unexpected);
  const std::size_t part = p.rx.unexpected_bytes - envelopes + sizeof(Unexpected) + bytes;
  if (part <= kShareAlways) return true;
  const std::size_t more = s.config.share && s.config.buffer_grows ? s.config.share->available() : 0;
  return part <= s.memory.buffers.limit() - held + more;
}

bool room_for_envelope(const State& s, const Peer& p) {
  const std::uint64_t most = s.config.envelope_bytes, held = s.room.envelopes * sizeof(Unexpected);
  if (held + sizeof(Unexpected) > most) return false;
  const std::uint64_t part = (p.rx.envelopes + std::uint64_t{1}) * sizeof(Unexpected);
  return part <= kShareAlways || part <= most - held;
}

bool room_to_reorder(State& s, std::size_t bytes) {
  const std::size_t after = s.buffers_held() + bytes;
  return after <= s.memory.buffers.limit() / 2 || grow_in(s, 2 * after - s.memory.buffers.limit());
}

void room_left(State& s) {
  shrink(s, s.memory.buffers, s.room.granted_in, s.buffers_held());
}

std::byte* room_for_copy(State& s, std::size_t bytes) {
  if (!s.memory.send_buffers.fits(bytes)) {
    const std::size_t after = s.memory.send_buffers.in_use() + BufferPool::capacity_of(bytes);
    if (after <= s.memory.send_buffers.limit()) return nullptr;  // too long for any buffer
    if (!grow(s, s.memory.send_buffers, s.room.granted_out, after - s.memory.send_buffers.limit()))
      return nullptr;
  }
  return s.memory.send_buffers.get(bytes);
}

void room_left_by_copy(State& s) {
  shrink(s, s.memory.send_buffers, s.room.granted_out, s.memory.send_buffers.in_use());
}

void room_return(State& s) {
  if (s.config.share)
    s.config.share->give(std::exchange(s.room.granted_in, 0) + std::exchange(s.room.granted_out, 0));
}

void held_up_note(State& s, Peer& p, HeldUp::What what, std::uint64_t bound) {
  const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(what));
  if (s.room.held_up_told & bit) return;
  s.room.held_up_told |= bit;
  s.room.held_up = {what, &p, bound};
}

}  // namespace omx::protocol
