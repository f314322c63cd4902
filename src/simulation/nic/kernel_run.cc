// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/kernel_run.h"

#include <algorithm>

#include "simulation/nic/kernels.h"
#include "simulation/nic/measurement.h"

namespace omx::simulation::nic {

namespace {

using protocol::Completion;
using protocol::Request;
using protocol::Status;

struct Worker {
  Process* process = nullptr;
  std::uint32_t host = 0, index = 0;
  Program program;
  std::vector<std::byte> out, in;  // contents do not matter, so all messages share them
  std::size_t step = 0;
  std::uint32_t iteration = 0;
  std::uint64_t awaited = 0;  // sends and receives of this step
  bool computed = false;
  // By rank: messages until now.
  std::vector<std::uint64_t> sent, wanted, came_by_memory, taken_by_memory;
};

class KernelRun {
 public:
  explicit KernelRun(const WorkOptions& options) : m_(options), options_(options) {
    workers_.resize(kKernelRanks);
    const std::uint32_t each = kKernelRanks / 2;
    for (std::uint32_t i = 0; i < kKernelRanks; i++) {
      Worker& w = workers_[i];
      w.host = i / each;
      w.index = i % each;
      w.process = &m_.network.process(w.host, w.index);
      w.program = kernel_program(options.kernel, i);
      std::uint32_t most = 0;
      for (const Step& s : w.program)
        for (const auto* list : {&s.sends, &s.receives})
          for (const Transfer& t : *list) most = std::max(most, t.bytes);
      w.out.resize(most);
      w.in.resize(most);
      for (auto* counts : {&w.sent, &w.wanted, &w.came_by_memory, &w.taken_by_memory})
        counts->resize(kKernelRanks);
      w.process->on_progress = [this, i] { reap(i); };
    }
  }

  WorkResult run() {
    if (!m_.ready()) return m_.end(0);
    m_.begin();
    for (std::uint32_t i = 0; i < kKernelRanks; i++) begin(i);
    if (!m_.network.run_until([this] { return ended_ == kKernelRanks || bad_ || !m_.ready(); }) || bad_)
      return m_.failed("a kernel did not complete");
    return m_.end(options_.iterations);
  }

 private:
  bool here(std::uint32_t a, std::uint32_t b) const { return workers_[a].host == workers_[b].host; }
  const Step& step(std::uint32_t i) const { return workers_[i].program[workers_[i].step]; }

  void begin(std::uint32_t i) {
    Worker& w = workers_[i];
    w.computed = false;
    w.awaited = step(i).receives.size();
    for (const Transfer& t : step(i).receives) receive(i, t);
    if (!step(i).pipelined) send(i);
    // All messages may already be there.
    w.process->call(0, [this, i] { check(i); });
  }

  void receive(std::uint32_t i, const Transfer& from) {
    Worker& w = workers_[i];
    const std::uint64_t match = w.wanted[from.rank]++ << 8 | from.rank;
    if (here(i, from.rank)) return by_memory(i, from.rank);
    w.process->call(m_.operation_ns(), [this, i, bytes = from.bytes, match] {
      Worker& me = workers_[i];
      m_.receive(*me.process, {me.in.data(), bytes}, match, &me);
    });
  }

  // Sends the data of a step. A pipelined step does not wait for its sends, as their data have been copied.
  void send(std::uint32_t i) {
    Worker& w = workers_[i];
    const bool counts = !step(i).pipelined;
    if (counts) w.awaited += step(i).sends.size();
    for (const Transfer& to : step(i).sends) {
      const std::uint64_t match = w.sent[to.rank]++ << 8 | i;
      if (here(i, to.rank)) {
        const std::uint32_t core = workers_[to.rank].process->core();
        w.process->call_copying(m_.operation_ns(), core, to.bytes, [this, i, to, counts] {
          workers_[to.rank].came_by_memory[i]++;
          by_memory(to.rank, i);
          if (counts) one_done(i);
        });
        continue;
      }
      w.process->call(m_.operation_ns(), [this, i, to, match, counts] {
        Worker& me = workers_[i];
        const Worker& other = workers_[to.rank];
        m_.send(*me.process, m_.network.peer(me.host, me.index, other.host, other.index),
                {me.out.data(), to.bytes}, match, false, counts ? &me : nullptr);
      });
    }
  }

  // Takes messages of the same host that have come and are needed.
  void by_memory(std::uint32_t i, std::uint32_t from) {
    Worker& w = workers_[i];
    while (w.taken_by_memory[from] < std::min(w.came_by_memory[from], w.wanted[from])) {
      w.taken_by_memory[from]++;
      w.process->call(0, [this, i] { one_done(i); });
    }
  }

  void reap(std::uint32_t i) {
    Worker& w = workers_[i];
    while (Request* request = w.process->engine().peek_done()) {
      const Completion c = w.process->engine().consume(request);
      bad_ = bad_ || c.status != Status::success;
      if (c.context != nullptr) w.awaited--;
    }
    check(i);
  }

  void one_done(std::uint32_t i) {
    workers_[i].awaited--;
    check(i);
  }

  void check(std::uint32_t i) {
    Worker& w = workers_[i];
    if (w.awaited > 0 || w.computed) return;
    w.computed = true;
    w.process->compute(step(i).share * options_.compute_ns, [this, i] {
      if (!step(i).pipelined) return next(i);
      send(i);
      workers_[i].process->call(0, [this, i] { next(i); });
    });
  }

  void next(std::uint32_t i) {
    Worker& w = workers_[i];
    if (++w.step == w.program.size()) {
      w.step = 0;
      if (++w.iteration == options_.iterations) {
        ended_++;
        return;
      }
    }
    begin(i);
  }

  Measurement m_;
  const WorkOptions& options_;
  std::vector<Worker> workers_;
  std::uint32_t ended_ = 0;
  bool bad_ = false;
};

}  // namespace

WorkResult kernel(const WorkOptions& options) {
  WorkResult refused;
  if (kernel_program(options.kernel, 0).empty())
    refused.failure = "there is no kernel of that name; set --kernel";
  if (options.network.hosts != 0 || options.network.host.process_cores.size() * 2 != kKernelRanks)
    refused.failure = "kernels need two hosts of eight processes; set --cores";
  if (!refused.failure.empty()) return refused;
  KernelRun work(options);
  return work.run();
}

}  // namespace omx::simulation::nic
