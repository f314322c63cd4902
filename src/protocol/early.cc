// SPDX-License-Identifier: BSD-3-Clause
// Packets that arrived before one with a lower number: copied and processed when the hole is filled.
#include <cstring>
#include <new>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

std::size_t bytes_of(std::uint32_t length) {
  return sizeof(EarlyFrame) + length;
}

void slot_clear(State& s, EarlyWindow& w, EarlySlot& slot) {
  while (EarlyFrame* f = slot.frames) {
    slot.frames = f->next;
    s.buffers.put(reinterpret_cast<std::byte*>(f), bytes_of(f->length));
    w.frames--;
  }
  slot.mask = 0;
  slot.complete = false;
}

wire::Frame frame_of(const EarlyFrame& f) {
  return {reinterpret_cast<const std::byte*>(&f + 1), f.length};
}

void window_release(State& s, Partner& p) {
  if (p.early->frames > 0) return;
  s.early_windows.destroy(p.early);
  p.early = nullptr;
  room_left(s);
}

}  // namespace

bool early_store(State& s, Partner& p, Seqnum seqnum, wire::Frame frame, std::uint32_t fragment,
                 std::uint32_t fragments) {
  const std::size_t bytes = bytes_of(static_cast<std::uint32_t>(frame.size()));
  // Half of the memory is left to messages in order, which can free some.
  if (!room_for_early(s, bytes + (p.early ? 0 : sizeof(EarlyWindow)))) return false;
  if (!p.early) p.early = s.early_windows.create();
  if (!p.early) return false;
  EarlySlot& slot = p.early->slots[seq_number(seqnum) % 256];
  const std::uint64_t bit = std::uint64_t{1} << fragment;
  std::byte* buffer = slot.mask & bit ? nullptr : s.buffers.get(bytes);
  if (!buffer) {
    window_release(s, p);
    return false;
  }
  auto* f = new (buffer) EarlyFrame;
  f->length = static_cast<std::uint32_t>(frame.size());
  std::memcpy(buffer + sizeof(EarlyFrame), frame.data(), frame.size());
  f->next = slot.frames;
  slot.frames = f;
  slot.mask |= bit;
  slot.complete = static_cast<std::uint32_t>(__builtin_popcountll(slot.mask)) == fragments;
  p.early->frames++;
  return true;
}

void early_drain(State& s, Partner& p) {
  while (p.early && !s.suspended) {
    const Seqnum number = p.next_match;
    EarlySlot& slot = p.early->slots[seq_number(number) % 256];
    if (!slot.frames) return;
    // Taken off first: delivering may call back into the engine (unexpected handler).
    EarlyFrame* frames = slot.frames;
    EarlyWindow& window = *p.early;
    slot.frames = nullptr;
    slot.mask = 0;
    slot.complete = false;
    while (EarlyFrame* f = frames) {
      frames = f->next;
      const wire::Frame frame = frame_of(*f);
      wire::Head head;
      if (wire::decode_head(frame, head) == wire::Drop::none) {
        head.src = p.nic;  // by whatever board it came
        rx_message(s, head, frame, true);
      }
      s.buffers.put(reinterpret_cast<std::byte*>(f), bytes_of(f->length));
      // A cleanup inside the delivery has dropped the window; the frames in hand are still ours.
      if (p.early == &window) window.frames--;
    }
    if (p.early) window_release(s, p);
    if (p.next_match == number) return;  // incomplete or refused: the sender repeats what is missing
  }
}

void early_drop_data(State& s, Partner& p) {
  if (!p.early) return;
  for (EarlySlot& slot : p.early->slots) {
    wire::Head head;
    if (!slot.frames || wire::decode_head(frame_of(*slot.frames), head) != wire::Drop::none) continue;
    if (carries_data(head.type)) slot_clear(s, *p.early, slot);
  }
  window_release(s, p);
}

void early_drop(State& s, Partner& p) {
  if (!p.early) return;
  for (EarlySlot& slot : p.early->slots) slot_clear(s, *p.early, slot);
  p.early->frames = 0;
  window_release(s, p);
}

}  // namespace omx::protocol
