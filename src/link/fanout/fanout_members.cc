// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_members.h"

#include <algorithm>

#include "base/clock.h"
#include "link/fanout/fanout_calls.h"
#include "link/packet/packet_socket.h"

namespace omx::link {

namespace {

using State = MemberRecord::State;

// Time that earlier members get to join. Their makers wait once or twice for the kernel, together 60 ms. On
// machines with six times as many runnable threads as processors half a second was seen.
constexpr TimeNs kPatience = TimeNs{2} * 1'000'000'000;
constexpr unsigned kLookMs = 2;

std::uint32_t joined_count(const FanoutGroup& group, FanoutKind kind) {
  std::uint32_t count = 1;  // the dropping member
  for (std::uint32_t i = 0; i < group.spares(); i++)
    count += group.record(i).state.load(std::memory_order_relaxed) == State::joined &&
             group.record(i).kind.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(kind);
  return count;
}

// Lets a ready member join. Returns false when its socket cannot be had now. The last holder of the lock may
// have been killed at any point of this function.
bool let_join(FanoutGroup& group, std::uint32_t member) {
  MemberRecord& r = group.record(member);
  const std::uint32_t kind = r.kind.load(std::memory_order_relaxed);
  const OwnFd socket = spare_peek(group.share(), member);
  if (!socket.open()) return false;
  const int fd = socket.get();
  if (kind >= kFanoutKinds) {
    r.state.store(State::spoiled, std::memory_order_release);
    return true;
  }
  std::atomic<std::uint32_t>& fanout = group.directory().fanout[kind];
  const bool first = fanout.load(std::memory_order_relaxed) == 0;
  if (fanout_of(fd) == 0 && packet_socket_bind(fd, group.ifindex()) == 0) {
    if (first)
      fanout_found(fd);
    else
      fanout_join(fd, fanout.load(std::memory_order_relaxed));
  }
  const std::uint32_t joined = fanout_of(fd);
  if (joined != 0 && first) {
    fanout.store(joined, std::memory_order_relaxed);
    r.state.store(State::dropping, std::memory_order_release);
  } else if (joined != 0 && joined == fanout.load(std::memory_order_relaxed)) {
    // Only one socket has joined that is not counted yet, and it is the last one.
    r.index.store(joined_count(group, static_cast<FanoutKind>(kind)), std::memory_order_relaxed);
    r.state.store(State::joined, std::memory_order_release);
  } else {
    packet_socket_unbind(fd);
    r.state.store(State::spoiled, std::memory_order_release);
  }
  return true;
}

std::uint32_t settle(FanoutGroup& group) {
  FanoutDirectory& d = group.directory();
  std::uint32_t count = group.spares();
  while (count < FanoutDirectory::kMembers && spare_peek(group.share(), count).open())
    d.spares.store(++count, std::memory_order_release);
  for (std::uint32_t i = 0; i < count; i++) {
    std::uint32_t state = group.record(i).state.load(std::memory_order_acquire);
    if (state == State::making) {
      if (group.memory().locked(member_lock(i))) return i;
      // The maker died, perhaps after the last step.
      if (group.record(i).state.compare_exchange_strong(state, State::spoiled, std::memory_order_acq_rel))
        continue;
    }
    if (state == State::ready && !let_join(group, i)) return i;
  }
  return count;
}

// Takes over a member whose holder left it or died.
FanoutMember member_adopt(FanoutGroup& group, const MemberWish& wish) {
  for (std::uint32_t i = 0; i < group.spares(); i++) {
    const MemberRecord& r = group.record(i);
    if (r.state.load(std::memory_order_acquire) != State::joined ||
        r.kind.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(wish.kind) ||
        (wish.kind == FanoutKind::frames && !r.geometry.serves(wish.geometry)))
      continue;
    OwnFd lock = group.memory().lock(member_lock(i));
    if (!lock.open()) continue;
    OwnFd socket = spare_peek(group.share(), i);
    if (!socket.open() || drop_all(socket.get()) != 0) continue;
    return {group.shared_from_this(), i, std::move(lock), std::move(socket), true};
  }
  return {};
}

// Makes the dropping socket of a kind, which takes frames for no endpoint. It joins with the next member.
bool dropping_make(FanoutGroup& group, FanoutKind kind) {
  const std::uint32_t i = group.spares();
  if (i >= FanoutDirectory::kMembers) return false;
  const OwnFd socket = packet_socket_new();
  if (!socket.open() || !dropping_prepare(socket.get())) return false;
  MemberRecord& r = group.record(i);
  r.kind.store(static_cast<std::uint32_t>(kind), std::memory_order_relaxed);
  r.owner.store(-1, std::memory_order_relaxed);
  r.state.store(State::ready, std::memory_order_release);
  if (!spare_put(group.share(), socket.get())) return false;
  group.directory().spares.store(i + 1, std::memory_order_release);
  return true;
}

// Begins a new member. Sockets are made and put into the queue of spare members under one lock, and join in
// that order. After the interface was down, the kernel lets them join again in the order in which they were
// made. Indexes therefore stay the same.
FanoutMember member_begin(FanoutGroup& group, const MemberWish& wish) {
  FanoutDirectory& d = group.directory();
  if (d.fanout[static_cast<std::uint32_t>(wish.kind)].load(std::memory_order_relaxed) == 0 &&
      !dropping_make(group, wish.kind))
    return {};
  const std::uint32_t i = group.spares();
  if (i >= FanoutDirectory::kMembers) return {};
  OwnFd lock = group.memory().lock(member_lock(i));
  OwnFd socket = packet_socket_new();
  if (!lock.open() || !socket.open() || drop_all(socket.get()) != 0) return {};
  MemberRecord& r = group.record(i);
  r.kind.store(static_cast<std::uint32_t>(wish.kind), std::memory_order_relaxed);
  r.geometry = wish.geometry;
  r.owner.store(-1, std::memory_order_relaxed);
  r.state.store(State::making, std::memory_order_release);
  if (!spare_put(group.share(), socket.get())) return {};
  d.spares.store(i + 1, std::memory_order_release);
  return {group.shared_from_this(), i, std::move(lock), std::move(socket), false};
}

// Prepares the socket before it joins, because a later change of its ring would give it another index. Works
// without the lock, as it takes some time.
bool member_ready(FanoutGroup& group, const FanoutMember& member, const MemberWish& wish) {
  const int fd = member.socket();
  const bool ready = (!wish.ready || wish.ready(fd) == 0) &&
                     (wish.kind != FanoutKind::frames ||
                      (PacketRing::prepare(fd) == 0 && PacketRing::request(fd, wish.geometry) == 0));
  std::uint32_t making = State::making;
  // The state is no longer `making` if another process waited for us too long.
  return group.record(member.number())
             .state.compare_exchange_strong(making, ready ? State::ready : State::spoiled,
                                            std::memory_order_acq_rel) &&
         ready;
}

bool member_join(FanoutGroup& group, const FanoutMember& member) {
  const MemberRecord& mine = group.record(member.number());
  for (const TimeNs begun = clock_now();; nap(kLookMs)) {
    const FanoutLock lock(group.memory(), kJoinLock);
    if (!lock.held()) return false;
    const std::uint32_t blocked = settle(group);
    const std::uint32_t state = mine.state.load(std::memory_order_acquire);
    if (state != State::ready) return state == State::joined;
    const TimeNs waited = clock_now() - begun;
    if (waited > 2 * kPatience) return false;  // e.g. no descriptor is free for a socket
    if (waited < kPatience || blocked >= group.spares()) continue;
    std::uint32_t making = State::making;
    group.record(blocked).state.compare_exchange_strong(making, State::spoiled, std::memory_order_acq_rel);
  }
}

}  // namespace

FanoutMember member_take(FanoutGroup& group, const MemberWish& wish) {
  if (!packet_socket_bound(group.share().dropping.get(), group.ifindex())) group.give_up();
  if (group.broken()) return {};
  FanoutMember member;
  {
    const FanoutLock lock(group.memory(), kJoinLock);
    if (!lock.held()) return {};
    settle(group);
    member = member_adopt(group, wish);
    if (!member.held()) member = member_begin(group, wish);
  }
  if (!member.held()) return {};
  if (member.used())
    frames_settle();
  else if (!member_ready(group, member, wish) || !member_join(group, member))
    return {};
  return member;
}

}  // namespace omx::link
