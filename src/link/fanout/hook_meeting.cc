// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/hook_meeting.h"

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
#include "link/fanout/hook_disband.h"
#include "link/fanout/hook_fanout.h"
#include "link/fanout/hook_keeper.h"
#include "link/fanout/hook_names.h"
#include "link/fanout/hook_table.h"
#include "link/packet/packet_socket.h"

namespace omx::link {

namespace {

// Groups that one user may have on an interface: each costs every frame a hook, but a full one, or one whose
// processes are all stopped, must not keep others out.
constexpr unsigned kGroups = 4;
constexpr int kAnswerMs = 100, kQuestions = 20;
// Who did not answer is not asked again for so long.
constexpr TimeNs kPause = TimeNs{10} * 1'000'000'000;
constexpr int kDepotBytes = 1 << 20;

// A copy that exec() closes.
OwnFd copy_of(int fd) {
  return OwnFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

// A group that this process found or founded. Its keeper lets others in.
class MetGroup final : public HookGroup {
 public:
  MetGroup(std::uint32_t ifindex, std::string name) : HookGroup(ifindex), name_(std::move(name)) {
    work_.waker_set([this] { keeper_.wake(); });
  }
  ~MetGroup() override;

  // Founds it. False: somebody else has the name, or it cannot be.
  bool found();
  // `exists`: somebody has the name.
  bool join(int witness, bool& exists);

 private:
  bool keep();
  bool alone() const;

  std::string name_;
  HookKeeper keeper_;
  ForkMark mark_;
};

// The name comes first: who has it founds the group, and others wait for the answer.
bool MetGroup::found() {
  share_.listener = name_listen(name_);
  if (!share_.listener.open()) return false;
  share_.sink = packet_socket_new();
  if (!share_.sink.open() || !sink_prepare(share_.sink.get()) ||
      packet_socket_bind(share_.sink.get(), ifindex_) != 0 || !fanout_found(share_.sink.get()) ||
      !depot_open(share_) || !memory_.create())
    return false;
  // All places are to fit; where the system allows less, there are fewer.
  ::setsockopt(share_.depot_in.get(), SOL_SOCKET, SO_SNDBUF, &kDepotBytes, sizeof kDepotBytes);
  share_.memory = copy_of(memory_.descriptor());
  HookDirectory& d = directory();
  d.magic = HookDirectory::kMagic;
  d.version = HookDirectory::kVersion;
  d.fanout[0] = fanout_of(share_.sink.get());
  return share_.whole() && d.fanout[0] != 0 && keep();
}

bool MetGroup::join(int witness, bool& exists) {
  exists = true;
  // Each question wakes one keeper, which may be stopped before it answers.
  for (int i = 0; i < kQuestions && !share_.whole(); i++) {
    const OwnFd connection = name_connect(name_);
    if (!connection.open() && errno == EAGAIN) {
      nap(kAnswerMs);  // too many ask
      continue;
    }
    exists = connection.open() || errno != ECONNREFUSED;
    if (!connection.open() || !same_user(connection.get())) return false;
    if (right_show(connection.get(), witness)) share_ = share_receive(connection.get(), kAnswerMs);
  }
  // Nothing of ours goes to who has no packet socket himself.
  return share_.whole() && packet_socket_is(share_.sink.get(), witness) &&
         memory_.adopt(copy_of(share_.memory.get())) && directory().fanout[0] != 0 &&
         fanout_of(share_.sink.get()) == directory().fanout[0] && !broken() && keep();
}

bool MetGroup::keep() {
  return keeper_.start(
      share_, [this] { board_look(*this); }, [this] { work_.run(); });
}

// Whether nobody else seems to be there. Somebody may come just now: then nothing ends.
bool MetGroup::alone() const {
  for (std::uint32_t i = 0; i < deposited(); i++)
    if (memory_.locked(place_lock(i))) return false;
  return true;
}

MetGroup::~MetGroup() {
  const NoCancel no_cancel;
  keeper_.stop();
  if (mark_.forked() || !memory_.get() || !alone()) return;
  std::vector<OwnFd> sockets;
  {
    const HookLock lock(memory_, kJoinLock);
    if (!lock.held()) return;
    for (std::uint32_t i = 0; i < deposited(); i++) {
      OwnFd socket = depot_look(share_, i);
      if (!socket.open()) break;
      sockets.push_back(std::move(socket));
    }
  }
  share_ = {};
  sockets_close(std::move(sockets));
}

// Those of this process. A forked child begins anew, whatever its parent's threads did at that moment.
using Key = std::tuple<std::uint64_t, std::uint32_t, unsigned, unsigned>;
struct Known {
  std::weak_ptr<HookGroup> group;
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

std::shared_ptr<HookGroup> join_or_found(std::uint32_t ifindex, unsigned number, int witness) {
  // Somebody else may found it at the same time: then it is found the next time.
  for (int attempt = 0; attempt < 3; attempt++) {
    auto group = std::make_shared<MetGroup>(ifindex, hook_group_name(ifindex, number));
    bool exists = false;
    if (group->join(witness, exists)) return group;
    if (exists) return nullptr;
    group = std::make_shared<MetGroup>(ifindex, hook_group_name(ifindex, number));
    if (group->found()) return group;
    nap(1);
  }
  return nullptr;
}

std::shared_ptr<HookGroup> find(std::uint32_t ifindex, unsigned number, int witness) {
  Groups& mine = groups();
  const std::lock_guard guard(mine.mutex);
  // A process may move to another network namespace, where names are others.
  Known& known = mine.all[{network_of(witness), ifindex, ::geteuid(), number}];
  if (auto group = known.group.lock()) return group->broken() ? nullptr : group;
  if (clock_now() < known.ask_again) return nullptr;
  auto group = join_or_found(ifindex, number, witness);
  if (!group) known.ask_again = clock_now() + kPause;
  known.group = group;
  return group;
}

}  // namespace

std::string hook_group_name(std::uint32_t ifindex, unsigned number) {
  return fmt::format("omx/{}/hooks{}/{}/{}", ifindex, HookDirectory::kVersion, ::geteuid(), number);
}

OwnFd hook_licence(std::uint32_t ifindex, std::uint32_t most) {
  OwnFd licence;
  for (std::uint32_t i = 0; i < most && !licence.open(); i++)
    licence = name_hold(fmt::format("omx/{}/hook/{}", ifindex, i));
  return licence;
}

HookPlace hook_place_take(std::uint32_t ifindex, int witness, const HookWish& wish) {
  const NoCancel no_cancel;
  for (unsigned number = 0; number < kGroups; number++) {
    const auto group = find(ifindex, number, witness);
    if (!group) continue;
    HookPlace place = place_take(*group, wish);
    // Somebody is in the way, and may be so in any other: no time is lost there.
    if (place.held() || !(group->full() || group->broken())) return place;
  }
  return {};
}

}  // namespace omx::link
