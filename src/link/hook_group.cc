// SPDX-License-Identifier: BSD-3-Clause
#include "link/hook_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <linux/membarrier.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <tuple>

#include "base/no_cancel.h"
#include "link/hook_names.h"
#include "link/hook_program.h"
#include "link/packet_filter.h"
#include "link/packet_socket.h"

namespace omx::link {

namespace {

// Groups that one user may have on an interface: each costs every frame a hook, but a full one, or one whose
// processes are all stopped, must not keep others out.
constexpr unsigned kGroups = 4;
constexpr int kAnswerMs = 100, kQuestions = 5;

// Those of this process: a forked child has none of its parent's.
using Key = std::tuple<unsigned, std::uint64_t, std::uint32_t, unsigned>;
struct Groups {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<HookGroup>> all;
};
Groups& groups() {
  static Groups& known = *new Groups;  // outlives threads that end late
  return known;
}

// A process may move to another network namespace, where names are others.
std::uint64_t network_of(int fd) {
  std::uint64_t cookie = 0;
#ifdef SO_NETNS_COOKIE
  socklen_t size = sizeof cookie;
  ::getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size);
#else
  static_cast<void>(fd);
#endif
  return cookie;
}

// Of a socket that nobody has a use for.
int drop_all(int fd) {
  return packet_filter_attach(fd, {BPF_STMT(BPF_RET | BPF_K, 0)});
}

std::uint32_t fanout_of(int fd) {
  std::uint32_t fanout = 0;
  socklen_t size = sizeof fanout;
  return ::getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &fanout, &size) == 0 ? fanout : 0;
}

// A copy that exec() closes.
OwnFd copy_of(int fd) {
  return OwnFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

// Until frames that met the former filter of a socket have passed it.
void frames_settle() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  nap(10);
}

bool fanout_join(int fd, std::uint32_t fanout) {
  return ::setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &fanout, sizeof fanout) == 0;
}

}  // namespace

// --- who belongs to it
// ---------------------------------------------------------------------------------------

bool HookGroup::found() {
  share_.sink = packet_socket_new();
  const int sink = share_.sink.get();
  constexpr std::uint32_t kNewGroup = (PACKET_FANOUT_CBPF | PACKET_FANOUT_FLAG_UNIQUEID) << 16;
  const int least = 1;
  ::setsockopt(sink, SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
  if (!share_.sink.open() || drop_all(sink) != 0 || packet_socket_bind(sink, ifindex_) != 0 ||
      !fanout_join(sink, kNewGroup) || !depot_open(share_) || !memory_.create())
    return false;
  share_.memory = copy_of(memory_.descriptor());
  HookDirectory& d = directory();
  d.magic = HookDirectory::kMagic;
  d.version = HookDirectory::kVersion;
  d.fanout = fanout_of(sink);
  // The last step: from here on others come.
  share_.listener = name_listen(name_);
  return share_.whole() && d.fanout != 0 && keep();
}

bool HookGroup::join(bool& exists) {
  // Each question wakes one keeper, which may be stopped before it answers.
  const OwnFd witness = packet_socket_new();
  exists = true;
  if (!witness.open()) return false;
  for (int i = 0; i < kQuestions && !share_.whole(); i++) {
    const OwnFd connection = name_connect(name_);
    exists = connection.open() || errno != ECONNREFUSED;
    if (!exists || (connection.open() && !same_user(connection.get()))) return false;
    if (connection.open() && right_show(connection.get(), witness.get()))
      share_ = share_receive(connection.get(), kAnswerMs);
    else
      nap(kAnswerMs);  // too many ask
  }
  // Nothing of ours goes to who has no packet socket himself.
  return share_.whole() && packet_socket_is(share_.sink.get(), witness.get()) &&
         memory_.adopt(copy_of(share_.memory.get())) && directory().fanout != 0 &&
         fanout_of(share_.sink.get()) == directory().fanout && !broken() && keep();
}

bool HookGroup::keep() {
  return keeper_.start(share_, [this] { look(); });
}

std::shared_ptr<HookGroup> HookGroup::find(std::uint32_t ifindex, unsigned number) {
  const OwnFd witness = packet_socket_new();
  if (!witness.open()) return nullptr;
  const std::lock_guard guard(groups().mutex);
  std::weak_ptr<HookGroup>& known =
      groups().all[{fork_generation(), network_of(witness.get()), ifindex, number}];
  if (auto group = known.lock()) return group->broken() ? nullptr : group;
  const std::string name = fmt::format("omx/{}/hooks/{}/{}", ifindex, ::geteuid(), number);
  // Somebody else may found it at the same time: then it is found the second time.
  for (int attempt = 0; attempt < 2; attempt++) {
    auto group = std::make_shared<HookGroup>(ifindex, name);
    bool exists = false;
    if (group->join(exists)) return known = group, group;
    if (exists) return nullptr;
    group = std::make_shared<HookGroup>(ifindex, name);
    if (group->found()) return known = group, group;
  }
  return nullptr;
}

OwnFd HookGroup::licence(std::uint32_t ifindex, std::uint32_t most) {
  OwnFd licence;
  for (std::uint32_t i = 0; i < most && !licence.open(); i++)
    licence = name_hold(fmt::format("omx/{}/hook/{}", ifindex, i));
  return licence;
}

HookPlace HookGroup::take(std::uint32_t ifindex, const HookWish& wish) {
  const NoCancel no_cancel;
  for (unsigned number = 0; number < kGroups; number++) {
    const auto group = find(ifindex, number);
    HookPlace place = group ? group->place_take(wish) : HookPlace();
    if (!place.held()) continue;
    frames_settle();
    return place;
  }
  return {};
}

// --- places
// --------------------------------------------------------------------------------------------------

std::uint32_t HookGroup::deposited() const {
  return std::min(directory().deposited.load(std::memory_order_acquire), HookDirectory::kPlaces);
}

std::uint32_t HookGroup::members() const {
  std::uint32_t count = 1;  // the sink
  for (std::uint32_t i = 0; i < deposited(); i++)
    count += directory().places[i].state.load(std::memory_order_relaxed) == HookPlaceRecord::member;
  return count;
}

// Only one socket at a time is not known yet, so if it has joined it was the last to do so.
void HookGroup::classify(std::uint32_t place, int fd) {
  HookPlaceRecord& record = directory().places[place];
  if (fd >= 0 && fanout_of(fd) == directory().fanout) {
    record.index.store(members(), std::memory_order_relaxed);
    record.state.store(HookPlaceRecord::member, std::memory_order_release);
  } else {
    if (fd >= 0) packet_socket_unbind(fd);
    record.state.store(HookPlaceRecord::spoiled, std::memory_order_release);
  }
}

// The last who held the lock may have been killed at any point.
void HookGroup::repair() {
  HookDirectory& d = directory();
  std::uint32_t count = deposited();
  while (count < HookDirectory::kPlaces && depot_look(share_, count).open())
    d.deposited.store(++count, std::memory_order_release);
  for (std::uint32_t i = 0; i < count; i++) {
    if (d.places[i].state.load(std::memory_order_acquire) == HookPlaceRecord::unknown)
      classify(i, depot_look(share_, i).get());
  }
}

HookPlace HookGroup::place_take(const HookWish& wish) {
  const NameLock lock(lock_name("join"), directory().turns);
  if (!lock.held()) return {};
  repair();
  HookPlace place = place_adopt(wish);
  return place.held() ? std::move(place) : place_make(wish);
}

// One that somebody left, or died on.
HookPlace HookGroup::place_adopt(const HookWish& wish) {
  for (std::uint32_t i = 0; i < deposited(); i++) {
    const HookPlaceRecord& record = directory().places[i];
    if (record.state.load(std::memory_order_acquire) != HookPlaceRecord::member ||
        !record.geometry.serves(wish.geometry))
      continue;
    OwnFd name = name_hold(place_name(i));
    if (!name.open()) continue;
    OwnFd socket = depot_look(share_, i);
    if (!socket.open() || drop_all(socket.get()) != 0) continue;
    return {shared_from_this(), i, std::move(name), std::move(socket)};
  }
  return {};
}

// Made and joined under one lock: the kernel lets sockets join again in the order in which they were made
// when the interface was down, and so their indexes stay what they were.
HookPlace HookGroup::place_make(const HookWish& wish) {
  HookDirectory& d = directory();
  const std::uint32_t i = deposited();
  if (i >= HookDirectory::kPlaces) return {};
  OwnFd name = name_hold(place_name(i));
  OwnFd socket = packet_socket_new();
  if (!name.open() || !socket.open()) return {};
  HookPlaceRecord& record = d.places[i];
  record.geometry = wish.geometry;
  record.owner.store(-1, std::memory_order_relaxed);
  const int fd = socket.get();
  // Before it joins: after a change of its ring it would have another index.
  if (wish.ready(fd) != 0 || drop_all(fd) != 0 || PacketRing::prepare(fd) != 0 ||
      PacketRing::request(fd, wish.geometry) != 0 || !depot_put(share_, fd))
    return {};
  d.deposited.store(i + 1, std::memory_order_release);
  if (packet_socket_bind(fd, ifindex_) == 0) fanout_join(fd, d.fanout);
  classify(i, fd);
  if (record.state.load(std::memory_order_relaxed) != HookPlaceRecord::member) return {};
  return {shared_from_this(), i, std::move(name), std::move(socket)};
}

// --- the kernel's table
// --------------------------------------------------------------------------------------

// Two that live, so that names are answered though one of them may be stopped: who asks again is heard by
// the other one sooner or later.
std::array<std::uint32_t, 2> HookGroup::board_choose() const {
  std::array<std::uint32_t, 2> chosen{};
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < deposited() && count < chosen.size(); i++) {
    if (directory().places[i].owner.load(std::memory_order_relaxed) >= 0 && name_held(place_name(i)))
      chosen[count++] = i + 1;
  }
  return chosen;
}

bool HookGroup::load() {
  HookDirectory& d = directory();
  const std::uint32_t version = d.wanted.load(std::memory_order_acquire);
  HookTable table;
  std::array<bool, 256> seen{};
  const std::uint32_t count = deposited();
  const auto index_of = [&d](std::uint32_t place) {
    return static_cast<std::uint8_t>(d.places[place].index.load(std::memory_order_relaxed));
  };
  for (std::uint32_t i = 0; i < count; i++) {
    const std::int32_t owner = d.places[i].owner.load(std::memory_order_relaxed);
    if (d.places[i].state.load(std::memory_order_acquire) != HookPlaceRecord::member || owner < 0 ||
        owner > 255 || seen[static_cast<std::size_t>(owner)])
      continue;
    seen[static_cast<std::size_t>(owner)] = true;
    table.leaves.push_back({static_cast<std::uint8_t>(owner), index_of(i)});
  }
  const auto board = board_choose();
  for (std::size_t i = 0; i < board.size(); i++)
    if (board[i] > 0) table.board[i] = index_of(board[i] - 1);
  if (hook_program_load(share_.sink.get(), hook_program_build(std::move(table))) != 0) return false;
  for (std::size_t i = 0; i < board.size(); i++) d.board[i].store(board[i], std::memory_order_relaxed);
  d.loaded.store(version, std::memory_order_release);
  return true;
}

// One load serves all who came before it; each waits for the kernel some ten milliseconds.
bool HookGroup::publish(std::uint32_t version) {
  const auto done = [&] {
    return static_cast<std::int32_t>(directory().loaded.load(std::memory_order_acquire) - version) >= 0;
  };
  while (!done()) {
    const NameLock lock(lock_name("load"), directory().turns);
    if (!lock.held()) return done();
    if (!done() && !load()) return false;
  }
  return true;
}

// Who hears the board may have gone.
void HookGroup::look() {
  HookDirectory& d = directory();
  for (const auto& chosen : d.board) {
    const std::uint32_t place = chosen.load(std::memory_order_relaxed);
    if (place == 0 || place > HookDirectory::kPlaces || name_held(place_name(place - 1))) continue;
    publish(d.wanted.fetch_add(1, std::memory_order_acq_rel) + 1);
    return;
  }
}

// --- a place
// -------------------------------------------------------------------------------------------------

RingGeometry HookPlace::geometry() const {
  return group_->directory().places[number_].geometry;
}

bool HookPlace::enter(std::uint8_t endpoint) {
  HookDirectory& d = group_->directory();
  for (std::uint32_t i = 0; i < group_->deposited(); i++) {
    std::int32_t before = endpoint;
    d.places[i].owner.compare_exchange_strong(before, -1, std::memory_order_relaxed);
  }
  d.places[number_].owner.store(endpoint, std::memory_order_relaxed);
  return group_->publish(d.wanted.fetch_add(1, std::memory_order_acq_rel) + 1);
}

void HookPlace::leave() {
  if (!group_) return;
  if (!mark_.forked()) {
    drop_all(socket_.get());
    group_->directory().places[number_].owner.store(-1, std::memory_order_relaxed);
  }
  socket_.reset();
  name_.reset();
  group_.reset();
}

}  // namespace omx::link
