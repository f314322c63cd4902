// SPDX-License-Identifier: BSD-3-Clause
// A host of the papers: cores, a NIC, and processes, each with one endpoint: the real protocol engine. The
// engine's work takes no virtual time by itself. The host adds the time that the original driver and library
// would have taken.
//
// The road of a frame: nic.cc (interrupt) -> interrupt() -> poll() on the interrupted core, the driver's
// part. Requests for large messages and their data then go to the engine at once. Other frames become an
// event for the library on the process's core, and reach the engine there. Frames that the engine sends cost
// the core on which it was called.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "protocol/endpoint.h"
#include "simulation/engine/frames.h"
#include "simulation/nic/core.h"
#include "simulation/nic/memory_bus.h"
#include "simulation/nic/nic.h"
#include "simulation/nic/topology.h"
#include "simulation/nic/transmit_queues.h"

namespace omx::simulation::nic {

enum class Interrupts : std::uint8_t { round_robin, bound, queues };
// How the driver copies. `all`: the engine copies fragments of medium messages, too, and the driver waits.
enum class Copies : std::uint8_t { processor, engine, ignored, all };

struct HostSetup {
  Strategy strategy = Strategy::timeout;
  Interrupts interrupts = Interrupts::round_robin;
  std::uint32_t bound_core = 0;
  bool may_sleep = false;
  bool all_busy = false;  // no core sleeps, as if other processes polled there; they take no time
  Copies copies = Copies::processor;
  bool mpi = false;
  std::vector<std::uint32_t> process_cores = {0};
};

// Cache lines that the receive path accesses, and those of them that came from another pair's cache or from
// memory.
struct CacheCounts {
  std::uint64_t lines = 0, moved = 0;
};

class Host;

class Process final : public wire::FrameSink {
 public:
  Process(Host& host, std::uint32_t index, std::uint32_t core, const protocol::Config& config);

  Host& host() { return host_; }
  std::uint32_t index() const { return index_; }
  std::uint32_t core() const { return core_; }
  protocol::Endpoint& engine() { return *engine_; }
  const protocol::Counters& counters() const { return counters_; }

  // Calls the library from the process, on its core, when the core has time. Frames that the engine sends
  // meanwhile cost time beside `ns`.
  void call(double ns, std::function<void()> what);
  // Calls the library after a copy of `bytes` to the memory of the process on core `to`.
  void call_copying(double ns, std::uint32_t to, std::uint64_t bytes, std::function<void()> what);
  // Lets the process compute. Interrupts come in between, calls of the library do not.
  void compute(double ns, std::function<void()> done);
  // Called on the process's core when requests have completed since the last call.
  std::function<void()> on_progress;

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override;
  void frame_commit() override;
  void flush() override {}

 private:
  friend class Host;
  Host& host_;
  std::uint32_t index_, core_;
  protocol::Counters counters_;
  std::unique_ptr<protocol::Endpoint> engine_;
  wire::TxFrame tx_;
  std::vector<iovec> segments_;
  std::deque<std::uint32_t> out_;      // what the engine sent in this call
  std::uint32_t state_core_;           // the core whose cache has the driver's state of the endpoint
  TimeNs wake_at_ = protocol::kNever;  // when the next timer event of the engine is scheduled
  std::uint64_t completions_announced_ = 0;
};

class Host {
 public:
  Host(Scheduler& scheduler, FramePool& frames, const Parameters& parameters, const HostSetup& setup,
       const protocol::Config& config, std::function<void(std::uint32_t frame)> transmit);

  Process& process(std::uint32_t index) { return *processes_[index]; }
  std::uint32_t process_count() const { return static_cast<std::uint32_t>(processes_.size()); }
  const Nic& nic() const { return nic_; }
  const HostSetup& setup() const { return setup_; }
  const Parameters& parameters() const { return parameters_; }
  Scheduler& scheduler() { return scheduler_; }
  const Core& core(std::uint32_t index) const { return *cores_[index]; }
  CacheCounts kernel_lines, user_lines;

  void frame_arrived(std::uint32_t frame);

 private:
  friend class Process;
  double local_copy_ns(std::uint32_t from_core, std::uint32_t to_core, std::uint64_t bytes);
  void transmit(std::uint32_t frame);
  void interrupt(std::uint32_t queue, double ago_ns);
  void poll(std::uint32_t queue, std::uint32_t core, std::uint32_t taken);
  double driver_ns(std::uint32_t frame, std::uint32_t core);
  double wake_ns(std::uint32_t core) const;
  double engine_copy_ns(double bytes);
  double engine_wait_ns() const;
  double lines_ns(std::uint32_t from, std::uint32_t to, double lines, CacheCounts& counts);
  void deliver(std::uint32_t frame, std::uint32_t core);
  void event(Process& process, std::uint32_t core, std::uint32_t frame);
  void sent(Process& process, std::uint32_t core, bool interrupt);
  void completion_event(Process& process, std::uint32_t core);
  void progressed(Process& process);
  void timers_check(Process& process);
  Process* owner(std::uint32_t frame);
  bool by_driver(std::uint32_t frame) const;
  bool by_engine(bool reply, double bytes) const;

  Scheduler& scheduler_;
  FramePool& frames_;
  const Parameters& parameters_;
  HostSetup setup_;
  std::function<void(std::uint32_t)> to_cable_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::unique_ptr<Process>> processes_;
  Nic nic_;
  MemoryBus bus_;
  TransmitQueues transmit_queues_;
  std::uint32_t next_core_ = 1;
  TimeNs engine_free_ = 0;  // when the copy engine has finished everything
};

}  // namespace omx::simulation::nic
