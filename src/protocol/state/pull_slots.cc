// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/pull_slots.h"

#include <cassert>
#include <utility>

#include "base/bytes.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

constexpr std::uint32_t kGenerationMask = 0x3FFFFF;
constexpr unsigned kSlotShift = 22;

}  // namespace

bool pull_slot_allowed(const State& s, const Peer& p) {
  const std::size_t free = kPullSlots - s.transfers.pull_slots.size() + s.transfers.pull_free.size();
  return (p.rx.pulls ? p.rx.pulls->running : 0) < free;
}

bool pull_slot_acquire(State& s, Pull& pull) {
  assert(pull_waiting(pull));
  if (s.transfers.pull_free.empty()) {
    if (s.transfers.pull_slots.size() == kPullSlots) return false;
    s.transfers.pull_free.push_back(static_cast<std::uint16_t>(s.transfers.pull_slots.size()));
    // A reply names no session, so late replies to our last instance are recognized by the handle alone.
    s.transfers.pull_slots.push_back({nullptr, ((s.config.session * 0x9E3779B1U) >> 10) | 1});
  }
  const std::uint16_t slot = s.transfers.pull_free.back();
  s.transfers.pull_free.pop_back();
  s.transfers.pull_slots[slot].pull = &pull;
  pull.handle = (static_cast<std::uint32_t>(slot) << kSlotShift) | s.transfers.pull_slots[slot].generation;
  pull_enter(s, pull);
  return true;
}

void pull_slot_release(State& s, Pull& pull) {
  assert(!pull_waiting(pull));
  pull.unscheduled_hook.unlink();
  pull_leave(s, pull);
  if (s.pulling.senders == 0) s.transfers.pulls_by_bulk = s.transfers.pulls_by_link = false;
  const std::uint32_t index = pull.handle >> kSlotShift;
  PullSlot& slot = s.transfers.pull_slots[index];
  slot.pull = nullptr;
  pull.handle = 0;
  slot.generation = (slot.generation + 1) & kGenerationMask;
  if (slot.generation == 0) slot.generation = 1;  // handle 0 means none
  s.transfers.pull_free.push_back(static_cast<std::uint16_t>(index));
}

bool pull_waiting(const Pull& pull) {
  return pull.handle == 0;
}

bool pull_reserve(State& s) {
  return s.memory.pulls.reserve() && s.memory.peer_pulls.reserve();
}

Pull* pull_create(State& s, Request& receive, const wire::Rndv& rndv) {
  Peer& p = *receive.peer;
  if (!pull_reserve(s)) return nullptr;
  Pull* const pull = s.memory.pulls.create();
  if (!p.rx.pulls) p.rx.pulls = s.memory.peer_pulls.create(p);
  p.rx.pulls->count++;
  pull->request = &receive;
  pull->peer = &p;
  pull->age = ++s.transfers.pull_age;
  pull->region = rndv.rdma_id | std::uint32_t{rndv.page} << 8;
  pull->region_generation = rndv.rdma_seqnum;
  pull->region_offset = rndv.rdma_offset;
  pull->length = receive.xfer_length;
  receive.rx.pull = pull;
  return pull;
}

void pull_free(State& s, Pull& pull) {
  pull.all.unlink();
  s.timers.cancel(pull.timer);
  pull.request->rx.pull = nullptr;
  if (!pull_waiting(pull)) pull_slot_release(s, pull);
  if (PeerPulls*& pulls = pull.peer->rx.pulls; --pulls->count == 0) {
    assert(pulls->wanting.empty() && !pulls->turn.linked());
    s.memory.peer_pulls.destroy(std::exchange(pulls, nullptr));
  }
  s.memory.pulls.destroy(&pull);
}

Pull* pull_of_slot(State& s, std::uint32_t handle) {
  const std::uint32_t slot = handle >> kSlotShift;
  return slot < s.transfers.pull_slots.size() ? s.transfers.pull_slots[slot].pull : nullptr;
}

Pull* pull_of_handle(State& s, std::uint32_t handle) {
  Pull* pull = pull_of_slot(s, handle);
  return pull && pull->handle == handle ? pull : nullptr;
}

Pull* pull_of(State& s, const wire::Head& head, wire::Frame frame, std::uint8_t source) {
  const std::uint32_t handle = load_be32(frame.data() + 24), magic = load_be32(frame.data() + 28);
  if (magic != (wire::kPullMagic ^ s.config.endpoint)) return nullptr;
  Pull* pull = pull_of_handle(s, handle);
  return pull && ((pull->peer->nic ^ head.src) | pull->peer->misnamed(source)) == 0 ? pull : nullptr;
}

}  // namespace omx::protocol
