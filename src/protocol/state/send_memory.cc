// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/send_memory.h"

#include "base/buffer_pool.h"
#include "protocol/state/request.h"
#include "protocol/state/room.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

std::byte* send_copy_memory(State& s, const Request& r) {
  if (s.zombies >= s.config.zombie_max) return nullptr;
  const std::size_t after = s.send_buffers.in_use() + BufferPool::capacity_of(r.msg_length);
  return after <= s.config.send_buffer_bytes + s.room.parked_bytes ? room_for_copy(s, r.msg_length) : nullptr;
}

void send_copy_fill(Request& r, std::byte* memory) {
  r.segments.read(0, memory, r.msg_length);
  r.buffer = memory;
  r.buffer_size = r.msg_length;
  r.buffered = true;
}

bool send_copy_now(State& s, Request& r) {
  if (r.msg_length == 0) {
    r.buffered = s.zombies < s.config.zombie_max;
  } else if (std::byte* memory = send_copy_memory(s, r)) {
    send_copy_fill(r, memory);
  }
  return r.buffered;
}

bool send_copy_wanted(const Request& r) {
  return r.send_class != SendClass::large && !r.buffered && !r.delivered;
}

bool send_buffer(State& s, Request& r) {
  if (std::byte* memory = r.msg_length > 0 ? room_for_copy(s, r.msg_length) : nullptr) {
    send_copy_fill(r, memory);
  } else if (r.msg_length > 0) {
    held_up_note(s, *r.partner, HeldUp::What::copies, s.send_buffers.limit());
    return false;
  }
  return r.buffered = true;
}

void send_release_buffer(State& s, Request& r) {
  if (!r.buffer) return;
  if (r.waits) s.room.parked_bytes -= BufferPool::capacity_of(r.buffer_size);
  s.send_buffers.put(r.buffer, r.buffer_size);
  r.buffer = nullptr;
  room_left_by_copy(s);
}

bool send_inject(State& s, Request& r) {
  if (!send_buffer(s, r)) return false;
  const Segment own{r.buffer, r.msg_length};
  r.segments.clear(s.segment_lists);
  r.segments.assign({&own, 1}, s.segment_lists);  // one segment needs no memory
  return true;
}

void send_from_buffer(State& s, Request& r) {
  if (!r.buffer) return;
  const Segment own{r.buffer, r.msg_length};
  r.segments.clear(s.segment_lists);
  r.segments.assign({&own, 1}, s.segment_lists);  // one segment needs no memory
}

void park_copy(State& s, Request& r) {
  const bool early = !r.delivered && !r.synchronous && s.config.zombie_max > 0;
  if (!r.buffered && early) send_buffer(s, r);
  send_from_buffer(s, r);
}

}  // namespace omx::protocol
