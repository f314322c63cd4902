// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/send_memory.h"

#include <utility>

#include "base/buffer_pool.h"
#include "protocol/state/request.h"
#include "protocol/state/room.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

std::byte* send_copy_memory(State& s, Request& r) {
  if (s.completion.buffered_sends >= s.config.buffered_sends_max) return nullptr;
  if (r.msg_length <= kNearMost) return r.tx.near.data();
  const std::size_t after = s.memory.send_buffers.in_use() + BufferPool::capacity_of(r.msg_length);
  return after <= s.config.send_buffer_bytes + s.room.parked_bytes ? room_for_copy(s, r.msg_length) : nullptr;
}

void send_copy_fill(Request& r, std::byte* memory) {
  r.segments.read(0, memory, r.msg_length);
  r.tx.buffer = memory;
  r.tx.buffer_size = r.msg_length;
  r.tx.buffered = true;
}

bool send_copy_now(State& s, Request& r) {
  if (r.msg_length == 0) {
    r.tx.buffered = s.completion.buffered_sends < s.config.buffered_sends_max;
  } else if (std::byte* memory = send_copy_memory(s, r)) {
    send_copy_fill(r, memory);
  }
  return r.tx.buffered;
}

bool send_copy_wanted(const Request& r) {
  return r.send_class != SendClass::large && !r.tx.buffered && !r.tx.delivered;
}

bool send_buffer(State& s, Request& r) {
  if (std::byte* memory = r.msg_length > 0 ? room_for_copy(s, r.msg_length) : nullptr) {
    send_copy_fill(r, memory);
  } else if (r.msg_length > 0) {
    held_up_note(s, *r.peer, HeldUp::What::copies, s.memory.send_buffers.limit());
    return false;
  }
  return r.tx.buffered = true;
}

std::size_t send_copy_bytes(const Request& r) {
  return !r.tx.buffer || r.tx.buffer == r.tx.near.data() ? 0 : BufferPool::capacity_of(r.tx.buffer_size);
}

void send_release_buffer(State& s, Request& r) {
  const std::size_t bytes = send_copy_bytes(r);
  std::byte* const buffer = std::exchange(r.tx.buffer, nullptr);
  if (bytes == 0) return;
  if (r.tx.waits) s.room.parked_bytes -= bytes;
  s.memory.send_buffers.put(buffer, r.tx.buffer_size);
  room_left_by_copy(s);
}

bool send_inject(State& s, Request& r) {
  if (!send_buffer(s, r)) return false;
  const Segment own{r.tx.buffer, r.msg_length};
  r.segments.clear(s.memory.segment_lists);
  r.segments.assign({&own, 1}, s.memory.segment_lists);  // one segment needs no memory
  return true;
}

void send_from_buffer(State& s, Request& r) {
  if (!r.tx.buffer) return;
  const Segment own{r.tx.buffer, r.msg_length};
  r.segments.clear(s.memory.segment_lists);
  r.segments.assign({&own, 1}, s.memory.segment_lists);  // one segment needs no memory
}

void park_copy(State& s, Request& r) {
  const bool early = !r.tx.delivered && !r.tx.synchronous && s.config.buffered_sends_max > 0;
  if (!r.tx.buffered && early) send_buffer(s, r);
  send_from_buffer(s, r);
}

}  // namespace omx::protocol
