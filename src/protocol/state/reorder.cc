// SPDX-License-Identifier: BSD-3-Clause
// Packets that arrived before one with a lower number. They are copied, and processed when the hole is
// filled.
#include "protocol/state/reorder.h"

#include <cassert>
#include <cstring>
#include <new>

#include "protocol/state/room.h"

namespace omx::protocol {

std::size_t reorder_bytes(std::uint32_t length) {
  return sizeof(ReorderFrame) + length;
}

namespace {

void slot_clear(State& s, ReorderBuffer& w, ReorderSlot& slot) {
  while (ReorderFrame* f = slot.frames) {
    slot.frames = f->next;
    s.memory.buffers.put(reinterpret_cast<std::byte*>(f), reorder_bytes(f->length));
    w.frames--;
  }
  slot.mask = 0;
  slot.complete = false;
}

}  // namespace

wire::Frame reorder_frame(const ReorderFrame& f) {
  return {reinterpret_cast<const std::byte*>(&f + 1), f.length};
}

void reorder_release(State& s, Peer& p) {
  if (p.rx.reorder->frames > 0) return;
  s.memory.reorder_buffers.destroy(p.rx.reorder);
  p.rx.reorder = nullptr;
  room_left(s);
}

bool reorder_store(State& s, Peer& p, Seqnum seqnum, wire::Frame frame, std::uint32_t fragment,
                   std::uint32_t fragments) {
  assert(fragment < fragments);
  const std::size_t bytes = reorder_bytes(static_cast<std::uint32_t>(frame.size()));
  // Half of the memory is left to messages in order, which can free some.
  if (!room_to_reorder(s, bytes + (p.rx.reorder ? 0 : sizeof(ReorderBuffer)))) return false;
  if (!p.rx.reorder) p.rx.reorder = s.memory.reorder_buffers.create();
  if (!p.rx.reorder) return false;
  ReorderSlot& slot = p.rx.reorder->slots[seq_number(seqnum) % 256];
  // A message that is repeated may be divided otherwise.
  if (slot.frames && slot.fragments != fragments) {
    if (slot.complete) return false;
    slot_clear(s, *p.rx.reorder, slot);
  }
  const std::uint64_t bit = std::uint64_t{1} << fragment;
  std::byte* buffer = slot.mask & bit ? nullptr : s.memory.buffers.get(bytes);
  if (!buffer) {
    reorder_release(s, p);
    return false;
  }
  auto* f = new (buffer) ReorderFrame;
  f->length = static_cast<std::uint32_t>(frame.size());
  std::memcpy(buffer + sizeof(ReorderFrame), frame.data(), frame.size());
  f->next = slot.frames;
  slot.frames = f;
  slot.mask |= bit;
  slot.fragments = fragments;
  slot.complete = static_cast<std::uint32_t>(__builtin_popcountll(slot.mask)) == fragments;
  p.rx.reorder->frames++;
  return true;
}

void reorder_drop_data(State& s, Peer& p) {
  if (!p.rx.reorder) return;
  for (ReorderSlot& slot : p.rx.reorder->slots) {
    wire::Head head;
    if (!slot.frames || wire::decode_head(reorder_frame(*slot.frames), head) != wire::Drop::none) continue;
    if (carries_data(head.type)) slot_clear(s, *p.rx.reorder, slot);
  }
  reorder_release(s, p);
}

void reorder_drop(State& s, Peer& p) {
  if (!p.rx.reorder) return;
  for (ReorderSlot& slot : p.rx.reorder->slots) slot_clear(s, *p.rx.reorder, slot);
  p.rx.reorder->frames = 0;
  reorder_release(s, p);
}

}  // namespace omx::protocol
