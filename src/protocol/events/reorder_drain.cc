// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/reorder_drain.h"

#include "protocol/events/numbered.h"
#include "protocol/state/peer.h"
#include "protocol/state/reorder.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

void reorder_drain(State& s, Peer& p) {
  while (p.rx.reorder && !s.suspended) {
    const Seqnum number = p.counting.next_match;
    ReorderSlot& slot = p.rx.reorder->slots[seq_number(number) % 256];
    if (!slot.frames) return;
    // Delivery may call back into the engine (unexpected handler), so take the frames off first.
    ReorderFrame* frames = slot.frames;
    ReorderBuffer& buffer = *p.rx.reorder;
    slot.frames = nullptr;
    slot.mask = 0;
    slot.complete = false;
    while (ReorderFrame* f = frames) {
      frames = f->next;
      const wire::Frame frame = reorder_frame(*f);
      wire::Head head;
      if (wire::decode_head(frame, head) == wire::Drop::none) {
        head.src = p.nic;  // whichever board the frame came by
        s.transfers.frame_passes = true;
        numbered_frame(s, head, frame, true);
        s.transfers.frame_passes = false;
      }
      s.memory.buffers.put(reinterpret_cast<std::byte*>(f), reorder_bytes(f->length));
      // A cleanup inside the delivery may have dropped the reorder buffer. The frames in hand are still ours.
      if (p.rx.reorder == &buffer) buffer.frames--;
    }
    if (p.rx.reorder) reorder_release(s, p);
    if (p.counting.next_match == number) return;  // incomplete or refused: the sender repeats what is missing
  }
}

}  // namespace omx::protocol
