// SPDX-License-Identifier: BSD-3-Clause
// Packets that arrived before one with a lower number. They are copied, and processed when the hole is
// filled.
#include "protocol/state/early.h"

#include <cassert>
#include <cstring>
#include <new>

#include "protocol/state/room.h"

namespace omx::protocol {

std::size_t early_bytes(std::uint32_t length) {
  return sizeof(EarlyFrame) + length;
}

namespace {

void slot_clear(State& s, EarlyWindow& w, EarlySlot& slot) {
  while (EarlyFrame* f = slot.frames) {
    slot.frames = f->next;
    s.memory.buffers.put(reinterpret_cast<std::byte*>(f), early_bytes(f->length));
    w.frames--;
  }
  slot.mask = 0;
  slot.complete = false;
}

}  // namespace

wire::Frame early_frame(const EarlyFrame& f) {
  return {reinterpret_cast<const std::byte*>(&f + 1), f.length};
}

void early_release(State& s, Peer& p) {
  if (p.rx.early->frames > 0) return;
  s.memory.early_windows.destroy(p.rx.early);
  p.rx.early = nullptr;
  room_left(s);
}

bool early_store(State& s, Peer& p, Seqnum seqnum, wire::Frame frame, std::uint32_t fragment,
                 std::uint32_t fragments) {
  assert(fragment < fragments);
  const std::size_t bytes = early_bytes(static_cast<std::uint32_t>(frame.size()));
  // Half of the memory is left to messages in order, which can free some.
  if (!room_for_early(s, bytes + (p.rx.early ? 0 : sizeof(EarlyWindow)))) return false;
  if (!p.rx.early) p.rx.early = s.memory.early_windows.create();
  if (!p.rx.early) return false;
  EarlySlot& slot = p.rx.early->slots[seq_number(seqnum) % 256];
  const std::uint64_t bit = std::uint64_t{1} << fragment;
  std::byte* buffer = slot.mask & bit ? nullptr : s.memory.buffers.get(bytes);
  if (!buffer) {
    early_release(s, p);
    return false;
  }
  auto* f = new (buffer) EarlyFrame;
  f->length = static_cast<std::uint32_t>(frame.size());
  std::memcpy(buffer + sizeof(EarlyFrame), frame.data(), frame.size());
  f->next = slot.frames;
  slot.frames = f;
  slot.mask |= bit;
  slot.complete = static_cast<std::uint32_t>(__builtin_popcountll(slot.mask)) == fragments;
  p.rx.early->frames++;
  return true;
}

void early_drop_data(State& s, Peer& p) {
  if (!p.rx.early) return;
  for (EarlySlot& slot : p.rx.early->slots) {
    wire::Head head;
    if (!slot.frames || wire::decode_head(early_frame(*slot.frames), head) != wire::Drop::none) continue;
    if (carries_data(head.type)) slot_clear(s, *p.rx.early, slot);
  }
  early_release(s, p);
}

void early_drop(State& s, Peer& p) {
  if (!p.rx.early) return;
  for (EarlySlot& slot : p.rx.early->slots) slot_clear(s, *p.rx.early, slot);
  p.rx.early->frames = 0;
  early_release(s, p);
}

}  // namespace omx::protocol
