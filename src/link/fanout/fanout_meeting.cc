// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_meeting.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fork_guard.h"
#include "base/no_cancel.h"
#include "link/fanout/fanout_calls.h"
#include "link/fanout/fanout_disband.h"
#include "link/fanout/fanout_keeper.h"
#include "link/fanout/fanout_names.h"
#include "link/fanout/fanout_table.h"
#include "link/packet/packet_socket.h"

namespace omx::link {

namespace {

// Groups that one user may have on an interface. Each group costs every frame a hook. Several are allowed
// because a full group, or one whose processes are all stopped, must not keep others out.
constexpr unsigned kGroups = 4;
constexpr int kAnswerMs = 100, kQuestions = 20;
// Time after which a group that did not answer is asked again.
constexpr TimeNs kPause = TimeNs{10} * 1'000'000'000;
constexpr int kSparesBytes = 1 << 20;

// Returns a copy that exec() closes.
OwnFd copy_of(int fd) {
  return OwnFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

// A group that this process joined or founded. Its keeper lets others in.
class MetGroup final : public FanoutGroup {
 public:
  MetGroup(std::uint32_t ifindex, std::string name) : FanoutGroup(ifindex), name_(std::move(name)) {
    work_.waker_set([this] { keeper_.wake(); });
  }
  ~MetGroup() override;

  // Founds the group. Returns false when another process has the name, or when the group cannot be made.
  bool found();
  // Joins the group. Sets `exists` to whether a process has the name.
  bool join(int probe, bool& exists);

 private:
  bool keep();
  bool alone() const;

  std::string name_;
  FanoutKeeper keeper_;
  ForkMark mark_;
};

// Takes the name first. The process that has the name founds the group, and others wait for its answer.
bool MetGroup::found() {
  share_.listener = name_listen(name_);
  if (!share_.listener.open()) return false;
  share_.dropping = packet_socket_new();
  if (!share_.dropping.open() || !dropping_prepare(share_.dropping.get()) ||
      packet_socket_bind(share_.dropping.get(), ifindex_) != 0 || !fanout_found(share_.dropping.get()) ||
      !spares_open(share_) || !memory_.create())
    return false;
  // The queue should hold all members. Where the system allows less, there are fewer members.
  ::setsockopt(share_.spares_in.get(), SOL_SOCKET, SO_SNDBUF, &kSparesBytes, sizeof kSparesBytes);
  share_.memory = copy_of(memory_.descriptor());
  FanoutDirectory& d = directory();
  d.magic = FanoutDirectory::kMagic;
  d.version = FanoutDirectory::kVersion;
  d.fanout[0] = fanout_of(share_.dropping.get());
  return share_.whole() && d.fanout[0] != 0 && keep();
}

bool MetGroup::join(int probe, bool& exists) {
  exists = true;
  // Each attempt wakes one keeper, which may be stopped before it answers.
  for (int i = 0; i < kQuestions && !share_.whole(); i++) {
    const OwnFd connection = name_connect(name_);
    if (!connection.open() && errno == EAGAIN) {
      nap(kAnswerMs);  // too many processes ask
      continue;
    }
    exists = connection.open() || errno != ECONNREFUSED;
    if (!connection.open() || !same_user(connection.get())) return false;
    if (right_show(connection.get(), probe)) share_ = share_receive(connection.get(), kAnswerMs);
  }
  // A process without a packet socket of its own gets nothing from us.
  return share_.whole() && packet_socket_is(share_.dropping.get(), probe) &&
         memory_.adopt(copy_of(share_.memory.get())) && directory().fanout[0] != 0 &&
         fanout_of(share_.dropping.get()) == directory().fanout[0] && !broken() && keep();
}

bool MetGroup::keep() {
  return keeper_.start(
      share_, [this] { board_look(*this); }, [this] { work_.run(); });
}

// Returns whether no other process seems to use the group. Another process may come at this moment; then
// none of the sockets ends.
bool MetGroup::alone() const {
  for (std::uint32_t i = 0; i < spares(); i++)
    if (memory_.locked(member_lock(i))) return false;
  return true;
}

MetGroup::~MetGroup() {
  const NoCancel no_cancel;
  keeper_.stop();
  if (mark_.forked() || !memory_.get() || !alone()) return;
  std::vector<OwnFd> sockets;
  {
    const FanoutLock lock(memory_, kJoinLock);
    if (!lock.held()) return;
    for (std::uint32_t i = 0; i < spares(); i++) {
      OwnFd socket = spare_peek(share_, i);
      if (!socket.open()) break;
      sockets.push_back(std::move(socket));
    }
  }
  share_ = {};
  sockets_close(std::move(sockets));
}

// The groups of this process. A forked child starts with none, because its parent's threads may have held
// the mutex.
using Key = std::tuple<std::uint64_t, std::uint32_t, unsigned, unsigned>;
struct Known {
  std::weak_ptr<FanoutGroup> group;
  TimeNs ask_again = 0;
};
struct Groups {
  const unsigned generation = fork_generation();
  std::mutex mutex;
  std::map<Key, Known> all;
};
Groups& groups() {
  static std::atomic<Groups*> known{nullptr};  // never freed: threads may end late
  Groups* mine = known.load(std::memory_order_acquire);
  while (!mine || mine->generation != fork_generation()) {
    auto fresh = std::make_unique<Groups>();
    if (known.compare_exchange_strong(mine, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
  }
  return *mine;
}

std::shared_ptr<FanoutGroup> join_or_found(std::uint32_t ifindex, unsigned number, int probe) {
  // Another process may found the group at the same time. Then the next attempt joins it.
  for (int attempt = 0; attempt < 3; attempt++) {
    auto group = std::make_shared<MetGroup>(ifindex, fanout_group_name(ifindex, number));
    bool exists = false;
    if (group->join(probe, exists)) return group;
    if (exists) return nullptr;
    group = std::make_shared<MetGroup>(ifindex, fanout_group_name(ifindex, number));
    if (group->found()) return group;
    nap(1);
  }
  return nullptr;
}

std::shared_ptr<FanoutGroup> find(std::uint32_t ifindex, unsigned number, int probe) {
  Groups& mine = groups();
  const std::lock_guard guard(mine.mutex);
  // A process may move to another network namespace, where names belong to other sockets.
  Known& known = mine.all[{network_of(probe), ifindex, ::geteuid(), number}];
  if (auto group = known.group.lock()) return group->broken() ? nullptr : group;
  if (clock_now() < known.ask_again) return nullptr;
  auto group = join_or_found(ifindex, number, probe);
  if (!group) known.ask_again = clock_now() + kPause;
  known.group = group;
  return group;
}

}  // namespace

std::string fanout_group_name(std::uint32_t ifindex, unsigned number) {
  return fmt::format("omx/{}/hooks{}/{}/{}", ifindex, FanoutDirectory::kVersion, ::geteuid(), number);
}

OwnFd hook_licence(std::uint32_t ifindex, std::uint32_t most) {
  OwnFd licence;
  for (std::uint32_t i = 0; i < most && !licence.open(); i++)
    licence = name_hold(fmt::format("omx/{}/hook/{}", ifindex, i));
  return licence;
}

FanoutMember fanout_member_take(std::uint32_t ifindex, int probe, const MemberWish& wish) {
  const NoCancel no_cancel;
  for (unsigned number = 0; number < kGroups; number++) {
    const auto group = find(ifindex, number, probe);
    if (!group) continue;
    FanoutMember member = member_take(*group, wish);
    // An unfinished member blocks this group. The next group may be blocked, too, so no time is spent there.
    if (member.held() || !(group->full() || group->broken())) return member;
  }
  return {};
}

}  // namespace omx::link
