// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "base/log.h"
#include "runtime/wait/oversubscription.h"
#include "steering/placement.h"
#include "steering/topology.h"

namespace omx::runtime {

namespace {

thread_local std::weak_ptr<Seat> t_seat;

// The processor sets that Open-MX gave to threads of this process. A thread that a bound one starts inherits
// its set, though no one placed it. Never destroyed, because a thread may still open an endpoint at exit().
struct ProcessBindings {
  std::mutex mutex;
  std::set<std::vector<int>> set;
  std::vector<int> before;  // of the first thread that was bound

  std::vector<int> seen_through(const std::vector<int>& affinity) {
    const std::lock_guard guard(mutex);
    return set.count(affinity) ? before : affinity;
  }
  void add(const std::vector<int>& processors, const std::vector<int>& former) {
    const std::lock_guard guard(mutex);
    if (set.empty()) {
      before = former;
      // Other threads of the process may run on other processors.
      OversubscriptionDetector::processors_are(static_cast<int>(former.size()));
    }
    set.insert(processors);
  }
};
ProcessBindings& process_bindings() {
  static auto* const instance = new ProcessBindings;
  return *instance;
}

std::vector<int> beside_on_this_host(int cpu) {
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  static const auto* const topology = new auto(steering::topology_load());
  if (!*topology) log(LogLevel::info, "which processors share caches is not known: {}", topology->error());
  return *topology ? (**topology)->beside(cpu) : std::vector<int>{};
}

// The facts about this host, as the calling thread sees them.
class HostSurroundings final : public steering::Surroundings {
 public:
  HostSurroundings(const Board& board, const Settings& settings)
      : interface_(board.interface), udp_(datagram_ports(board, settings)) {
    interface_.nic = board.mac;
  }

  std::vector<int> affinity() override { return process_bindings().seen_through(affinity_read()); }
  std::vector<int> possible() override {
    std::vector<int> online = processors_online();
    if (!online.empty() && affinity_read() == online) return online;
    auto cpus = affinity_possible();
    return cpus.empty() ? online : cpus;
  }
  steering::ReceiveQueues queues() override {
    return steering::receive_queues_read("", interface_, udp_ ? &*udp_ : nullptr);
  }
  std::vector<int> beside(int cpu) override { return beside_on_this_host(cpu); }
  bool take(int cpu) override {
    auto claim = claim_processor(cpu);
    if (claim && !claim->held()) return false;
    // Without a claim, others cannot see that this processor is taken. The thread may run there all the
    // same.
    if (claim) taken = std::move(*claim);
    return true;
  }

  Claim taken;

 private:
  link::Interface interface_;
  std::optional<steering::DatagramPorts> udp_;
};

}  // namespace

Binding::Binding(const Board& board, std::uint32_t endpoint, const Settings& settings) {
  if (settings.binding.mode == steering::BindingMode::off) return;
  const std::string subject = fmt::format("{} endpoint {}", board.interface.name, endpoint);
  const std::vector<int> now = affinity_read();
  if (auto seat = t_seat.lock(); seat && !seat->forked() && seat->processors() == now) {
    said_ = fmt::format("{}: this thread stays on processor {}, where it has another endpoint", subject,
                        cpu_list_text(now));
    seat_ = std::move(seat);
    return;
  }
  HostSurroundings surroundings(board, settings);
  const auto placement = steering::place(settings.binding, {board.mac, endpoint}, surroundings);
  const std::string how = steering::binding_setting_text(settings.binding);
  if (placement.refused) {
    level_ = LogLevel::warn;
    said_ = fmt::format("{}: this thread stays where it is, as OMX_PROCESS_BINDING={} cannot be done: {}",
                        subject, how, placement.reason);
    return;
  }
  if (placement.processors.empty()) {
    said_ = fmt::format("{}: this thread stays where it is (OMX_PROCESS_BINDING={}): {}", subject, how,
                        placement.reason);
    // The application bound this thread, so the thread has its processor for itself all the same.
    if (surroundings.taken.held()) seat_ = std::make_shared<Seat>(now, std::move(surroundings.taken));
    t_seat = seat_;
    return;
  }
  const std::string cpus = cpu_list_text(placement.processors);
  if (const int error = affinity_set(placement.processors)) {
    level_ = LogLevel::warn;
    said_ = fmt::format("{}: this thread cannot be moved to processor {} (OMX_PROCESS_BINDING={}): {}",
                        subject, cpus, how, std::strerror(error));
    return;
  }
  before_ = now;
  seat_ = std::make_shared<Seat>(placement.processors, std::move(surroundings.taken));
  t_seat = seat_;
  said_ = fmt::format("{}: this thread runs on processor{} {} from now on, {}", subject,
                      placement.processors.size() == 1 ? "" : "s", cpus, placement.reason);
}

Binding::~Binding() {
  if (!before_.empty()) affinity_set(before_);
}

std::shared_ptr<Seat> Binding::keep() {
  if (!before_.empty()) process_bindings().add(seat_->processors(), before_);
  if (!said_.empty()) log(level_, "{}", said_);
  before_.clear();
  return std::move(seat_);
}

}  // namespace omx::runtime
