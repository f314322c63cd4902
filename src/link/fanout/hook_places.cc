// SPDX-License-Identifier: BSD-3-Clause
// The sockets of a hook group: made, joined in the order in which they were made, left and taken again.
#include <algorithm>

#include "base/clock.h"
#include "link/fanout/hook_fanout.h"
#include "link/fanout/hook_group.h"
#include "link/packet/packet_socket.h"

namespace omx::link {

namespace {

using State = HookPlaceRecord::State;

// For the places before one's own. Their makers take a wait or two for the kernel: 60 ms, but on machines
// with six times as many runnable threads as processors half a second was seen.
constexpr TimeNs kPatience = TimeNs{2} * 1'000'000'000;
constexpr unsigned kLookMs = 2;

}  // namespace

std::uint32_t HookGroup::deposited() const {
  return std::min(directory().deposited.load(std::memory_order_acquire), HookDirectory::kPlaces);
}

std::uint32_t HookGroup::members(HookKind kind) const {
  std::uint32_t count = 1;  // the sink
  for (std::uint32_t i = 0; i < deposited(); i++)
    count += record(i).state.load(std::memory_order_relaxed) == State::member &&
             record(i).kind.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(kind);
  return count;
}

// False: it cannot be seen now. Who held the lock may have been killed at any point of this.
bool HookGroup::let_join(std::uint32_t place) {
  HookPlaceRecord& r = record(place);
  const std::uint32_t kind = r.kind.load(std::memory_order_relaxed);
  const OwnFd socket = depot_look(share_, place);
  if (!socket.open()) return false;
  const int fd = socket.get();
  if (kind >= kHookKinds) {
    r.state.store(State::spoiled, std::memory_order_release);
    return true;
  }
  std::atomic<std::uint32_t>& fanout = directory().fanout[kind];
  const bool first = fanout.load(std::memory_order_relaxed) == 0;
  if (fanout_of(fd) == 0 && packet_socket_bind(fd, ifindex_) == 0) {
    if (first)
      fanout_found(fd);
    else
      fanout_join(fd, fanout.load(std::memory_order_relaxed));
  }
  const std::uint32_t joined = fanout_of(fd);
  if (joined != 0 && first) {
    fanout.store(joined, std::memory_order_relaxed);
    r.state.store(State::sink, std::memory_order_release);
  } else if (joined != 0 && joined == fanout.load(std::memory_order_relaxed)) {
    // Only one has joined that is not counted, and as the last.
    r.index.store(members(static_cast<HookKind>(kind)), std::memory_order_relaxed);
    r.state.store(State::member, std::memory_order_release);
  } else {
    packet_socket_unbind(fd);
    r.state.store(State::spoiled, std::memory_order_release);
  }
  return true;
}

std::uint32_t HookGroup::settle() {
  HookDirectory& d = directory();
  std::uint32_t count = deposited();
  while (count < HookDirectory::kPlaces && depot_look(share_, count).open())
    d.deposited.store(++count, std::memory_order_release);
  for (std::uint32_t i = 0; i < count; i++) {
    std::uint32_t state = record(i).state.load(std::memory_order_acquire);
    if (state == State::making) {
      if (memory_.locked(place_lock(i))) return i;
      // Its maker died, perhaps after the last step.
      if (record(i).state.compare_exchange_strong(state, State::spoiled, std::memory_order_acq_rel)) continue;
    }
    if (state == State::ready && !let_join(i)) return i;
  }
  return count;
}

HookPlace HookGroup::place_take(const HookWish& wish) {
  if (!packet_socket_bound(share_.sink.get(), ifindex_)) give_up();
  if (broken()) return {};
  HookPlace place;
  {
    const HookLock lock(memory_, kJoinLock);
    if (!lock.held()) return {};
    settle();
    place = place_adopt(wish);
    if (!place.held()) place = place_begin(wish);
  }
  if (!place.held()) return {};
  if (place.used())
    frames_settle();
  else if (!place_ready(place, wish) || !place_join(place))
    return {};
  return place;
}

// One that somebody left, or died on.
HookPlace HookGroup::place_adopt(const HookWish& wish) {
  for (std::uint32_t i = 0; i < deposited(); i++) {
    const HookPlaceRecord& r = record(i);
    if (r.state.load(std::memory_order_acquire) != State::member ||
        r.kind.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(wish.kind) ||
        (wish.kind == HookKind::frames && !r.geometry.serves(wish.geometry)))
      continue;
    OwnFd lock = memory_.lock(place_lock(i));
    if (!lock.open()) continue;
    OwnFd socket = depot_look(share_, i);
    if (!socket.open() || drop_all(socket.get()) != 0) continue;
    HookPlace place(shared_from_this(), i, std::move(lock), std::move(socket));
    place.used_ = true;
    return place;
  }
  return {};
}

// The socket of those that drop what is for nobody. It joins with the next one.
bool HookGroup::sink_make(HookKind kind) {
  const std::uint32_t i = deposited();
  if (i >= HookDirectory::kPlaces) return false;
  const OwnFd socket = packet_socket_new();
  if (!socket.open() || !sink_prepare(socket.get())) return false;
  HookPlaceRecord& r = record(i);
  r.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_relaxed);
  r.owner.store(-1, std::memory_order_relaxed);
  r.state.store(State::ready, std::memory_order_release);
  if (!depot_put(share_, socket.get())) return false;
  directory().deposited.store(i + 1, std::memory_order_release);
  return true;
}

// Sockets are made and put into the depot under one lock, and join in that order: the kernel lets them join
// again in the order in which they were made when the interface was down, and so indexes stay what they were.
HookPlace HookGroup::place_begin(const HookWish& wish) {
  HookDirectory& d = directory();
  if (d.fanout[static_cast<std::uint32_t>(wish.kind)].load(std::memory_order_relaxed) == 0 &&
      !sink_make(wish.kind))
    return {};
  const std::uint32_t i = deposited();
  if (i >= HookDirectory::kPlaces) return {};
  OwnFd lock = memory_.lock(place_lock(i));
  OwnFd socket = packet_socket_new();
  if (!lock.open() || !socket.open() || drop_all(socket.get()) != 0) return {};
  HookPlaceRecord& r = record(i);
  r.kind.store(static_cast<std::uint32_t>(wish.kind), std::memory_order_relaxed);
  r.geometry = wish.geometry;
  r.owner.store(-1, std::memory_order_relaxed);
  r.state.store(State::making, std::memory_order_release);
  if (!depot_put(share_, socket.get())) return {};
  d.deposited.store(i + 1, std::memory_order_release);
  return {shared_from_this(), i, std::move(lock), std::move(socket)};
}

// Before it joins: after a change of its ring it would have another index. Without the lock, as it takes some
// time.
bool HookGroup::place_ready(const HookPlace& place, const HookWish& wish) {
  const int fd = place.socket();
  const bool ready = (!wish.ready || wish.ready(fd) == 0) &&
                     (wish.kind != HookKind::frames ||
                      (PacketRing::prepare(fd) == 0 && PacketRing::request(fd, wish.geometry) == 0));
  std::uint32_t making = State::making;
  // Not any more if somebody waited for us too long.
  return record(place.number())
             .state.compare_exchange_strong(making, ready ? State::ready : State::spoiled,
                                            std::memory_order_acq_rel) &&
         ready;
}

bool HookGroup::place_join(const HookPlace& place) {
  const HookPlaceRecord& mine = record(place.number());
  for (const TimeNs begun = clock_now();; nap(kLookMs)) {
    const HookLock lock(memory_, kJoinLock);
    if (!lock.held()) return false;
    const std::uint32_t blocked = settle();
    const std::uint32_t state = mine.state.load(std::memory_order_acquire);
    if (state != State::ready) return state == State::member;
    const TimeNs waited = clock_now() - begun;
    if (waited > 2 * kPatience) return false;  // no descriptor is free to look at a socket, say
    if (waited < kPatience || blocked >= deposited()) continue;
    std::uint32_t making = State::making;
    record(blocked).state.compare_exchange_strong(making, State::spoiled, std::memory_order_acq_rel);
  }
}

RingGeometry HookPlace::geometry() const {
  return group_->record(number_).geometry;
}

bool HookPlace::enter(std::uint8_t endpoint) {
  HookDirectory& d = group_->directory();
  HookPlaceRecord& mine = group_->record(number_);
  const std::uint32_t kind = mine.kind.load(std::memory_order_relaxed);
  if (kind >= kHookKinds) return false;
  for (std::uint32_t i = 0; i < group_->deposited(); i++) {
    std::int32_t before = endpoint;
    if (group_->record(i).kind.load(std::memory_order_relaxed) == kind)
      group_->record(i).owner.compare_exchange_strong(before, -1, std::memory_order_relaxed);
  }
  mine.owner.store(endpoint, std::memory_order_relaxed);
  return group_->publish(static_cast<HookKind>(kind), socket_.get(),
                         d.wanted[kind].fetch_add(1, std::memory_order_acq_rel) + 1);
}

void HookPlace::leave() {
  if (!group_) return;
  if (!mark_.forked()) {
    drop_all(socket_.get());
    group_->record(number_).owner.store(-1, std::memory_order_relaxed);
  }
  socket_.reset();
  lock_.reset();
  group_.reset();
}

}  // namespace omx::link
