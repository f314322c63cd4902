// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/early_drain.h"

#include "protocol/events/numbered.h"
#include "protocol/state/early.h"
#include "protocol/state/early_window.h"
#include "protocol/state/peer.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

void early_drain(State& s, Peer& p) {
  while (p.rx.early && !s.suspended) {
    const Seqnum number = p.counting.next_match;
    EarlySlot& slot = p.rx.early->slots[seq_number(number) % 256];
    if (!slot.frames) return;
    // Delivery may call back into the engine (unexpected handler), so take the frames off first.
    EarlyFrame* frames = slot.frames;
    EarlyWindow& window = *p.rx.early;
    slot.frames = nullptr;
    slot.mask = 0;
    slot.complete = false;
    while (EarlyFrame* f = frames) {
      frames = f->next;
      const wire::Frame frame = early_frame(*f);
      wire::Head head;
      if (wire::decode_head(frame, head) == wire::Drop::none) {
        head.src = p.nic;  // whichever board the frame came by
        numbered_frame(s, head, frame, true);
      }
      s.memory.buffers.put(reinterpret_cast<std::byte*>(f), early_bytes(f->length));
      // A cleanup inside the delivery may have dropped the reorder buffer. The frames in hand are still ours.
      if (p.rx.early == &window) window.frames--;
    }
    if (p.rx.early) early_release(s, p);
    if (p.counting.next_match == number) return;  // incomplete or refused: the sender repeats what is missing
  }
}

}  // namespace omx::protocol
