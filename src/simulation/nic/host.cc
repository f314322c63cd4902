// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/host.h"

#include <algorithm>
#include <cmath>

#include "wire/codec.h"

namespace omx::simulation::nic {

namespace {
constexpr double kLine = 64;
constexpr std::size_t kMediumHeader = 48, kReplyHeader = 32;

double time_of(double bytes, double rate) {
  return bytes * 1e9 / rate;
}
std::size_t payload(const SimFrame& frame, std::size_t header) {
  return frame.bytes.size() - std::min(frame.bytes.size(), header);
}
}  // namespace

Process::Process(Host& host, std::uint32_t index, std::uint32_t core, const protocol::Config& config)
    : host_(host), index_(index), core_(core), state_core_(core) {
  protocol::Config own = config;
  own.endpoint = static_cast<std::uint8_t>(index);
  own.session = config.session + index;
  engine_ = std::make_unique<protocol::Endpoint>(own, *this, counters_);
}

wire::TxFrame& Process::frame_begin(std::uint32_t max_segments) {
  if (segments_.size() < max_segments) segments_.resize(max_segments);
  tx_.segments = segments_.data();
  tx_.header_length = tx_.segment_count = 0;
  return tx_;
}

void Process::frame_commit() {
  const std::uint32_t index = host_.frames_.create();
  auto& bytes = host_.frames_[index].bytes;
  bytes.assign(tx_.header, tx_.header + tx_.header_length);
  for (std::uint32_t i = 0; i < tx_.segment_count; i++) {
    const auto* data = static_cast<const std::byte*>(tx_.segments[i].iov_base);
    bytes.insert(bytes.end(), data, data + tx_.segments[i].iov_len);
  }
  if (bytes.size() < wire::kMinFrame) bytes.resize(wire::kMinFrame);
  out_.push_back(index);
}

void Process::call(double ns, std::function<void()> what) {
  call_copying(ns, core_, 0, std::move(what));
}

void Process::call_copying(double ns, std::uint32_t to, std::uint64_t bytes, std::function<void()> what) {
  host_.cores_[core_]->asked_by_process(
      {[this, ns, to, bytes] { return ns + (bytes == 0 ? 0 : host_.local_copy_ns(core_, to, bytes)); },
       [this, what = std::move(what)] {
         what();
         host_.sent(*this, core_, false);
         host_.timers_check(*this);
         if (engine_->peek_done() != nullptr) host_.progressed(*this);
       }});
}

void Process::compute(double ns, std::function<void()> done) {
  host_.cores_[core_]->asked_by_process({[ns] { return ns; }, std::move(done), true});
}

Host::Host(Scheduler& scheduler, FramePool& frames, const Parameters& parameters, const HostSetup& setup,
           const protocol::Config& config, std::function<void(std::uint32_t)> transmit)
    : scheduler_(scheduler),
      frames_(frames),
      parameters_(parameters),
      setup_(setup),
      to_cable_(std::move(transmit)),
      nic_(scheduler, parameters, {setup.strategy, setup.interrupts == Interrupts::queues ? kCores : 1},
           [this](std::uint32_t queue, double ago_ns) { interrupt(queue, ago_ns); }),
      bus_(scheduler, parameters),
      transmit_queues_(scheduler, parameters) {
  for (std::uint32_t i = 0; i < kCores; i++) {
    cores_.push_back(std::make_unique<Core>(scheduler, parameters));
    cores_[i]->polled = setup.all_busy || !setup.may_sleep;
  }
  for (std::uint32_t i = 0; i < setup.process_cores.size(); i++) {
    const std::uint32_t core = setup.process_cores[i];
    cores_[core]->polled = true;
    processes_.push_back(std::make_unique<Process>(*this, i, core, config));
  }
}

void Host::frame_arrived(std::uint32_t frame) {
  const auto& bytes = frames_[frame].bytes;
  const bool marked = (wire::frame_flags(bytes) & wire::kFlagUrgent) != 0;
  const std::size_t size = bytes.size();
  if (!nic_.arrived(frame, size, wire::destination_endpoint(bytes), marked)) return frames_.destroy(frame);
  // A frame that the NIC holds back counts when it arrives, too.
  bus_.carry_first(parameters_.dma_rate, time_of(static_cast<double>(size), parameters_.dma_rate));
}

// Sends a frame, which the NIC reads from memory.
void Host::transmit(std::uint32_t frame) {
  const auto size = static_cast<double>(frames_[frame].bytes.size());
  bus_.carry_first(parameters_.dma_rate, time_of(size, parameters_.dma_rate));
  to_cable_(frame);
}

// Raises an interrupt. It does not wait for the handler of the one before it: [C] IV-B2 has a frame with an
// interrupt every 965 ns.
void Host::interrupt(std::uint32_t queue, double ago_ns) {
  std::uint32_t core = setup_.bound_core;
  if (setup_.interrupts == Interrupts::queues) core = queue;
  if (setup_.interrupts == Interrupts::round_robin) core = next_core_++ % kCores;
  scheduler_.after(std::max(parameters_.irq_delivery_ns - ago_ns, 0.0), [this, queue, core] {
    const double wake = wake_ns(core);
    cores_[core]->interrupted_by(
        {[this, wake] { return wake + parameters_.irq_ns; }, [this, queue, core] { poll(queue, core, 0); }});
  });
}

// Returns the time to wake the core. Both cores of a pair sleep, or neither.
double Host::wake_ns(std::uint32_t core) const {
  return cores_[core]->idle() && cores_[neighbour_of(core)]->idle() ? parameters_.wake_ns : 0;
}

void Host::poll(std::uint32_t queue, std::uint32_t core, std::uint32_t taken) {
  std::uint32_t frame = 0;
  const bool off = setup_.strategy == Strategy::off || parameters_.timeout_ns <= 0;
  const bool enough = off && taken >= parameters_.off_frames;
  if (enough || !nic_.take(queue, frame)) {
    // Everything that the frames asked for is sent first. Otherwise another core could overtake this one.
    cores_[core]->interrupted_by({[] { return 0.0; }, [this, queue] { nic_.poll_done(queue); }});
    return;
  }
  cores_[core]->interrupted_by({[this, frame, core] { return driver_ns(frame, core); },
                                [this, queue, frame, core, taken] {
                                  deliver(frame, core);
                                  poll(queue, core, taken + 1);
                                }});
}

double Host::lines_ns(std::uint32_t from, std::uint32_t to, double lines, CacheCounts& counts) {
  counts.lines += static_cast<std::uint64_t>(lines);
  const Distance far = distance(from, to);
  if (far == Distance::same) return 0;
  // The shared cache holds the lines, so they are no misses of that cache.
  if (far == Distance::shared) return lines * parameters_.line_shared_ns;
  counts.moved += static_cast<std::uint64_t>(lines);
  return lines * (far == Distance::socket ? parameters_.line_socket_ns : parameters_.line_far_ns);
}

Process* Host::owner(std::uint32_t frame) {
  const int endpoint = wire::destination_endpoint(frames_[frame].bytes);
  return endpoint < 0 || endpoint >= static_cast<int>(processes_.size())
             ? nullptr
             : processes_[static_cast<std::size_t>(endpoint)].get();
}

bool Host::by_driver(std::uint32_t frame) const {
  const wire::PacketType type = frames_[frame].type();
  return type == wire::PacketType::pull || type == wire::PacketType::pull_reply;
}

// Returns the driver's time for a frame before the engine may process it.
double Host::driver_ns(std::uint32_t frame, std::uint32_t core) {
  Process* process = owner(frame);
  if (process == nullptr) return parameters_.frame_ns;  // dropped
  const SimFrame& f = frames_[frame];
  const auto type = f.type();
  const bool reply = type == wire::PacketType::pull_reply;
  double ns = parameters_.frame_ns + (reply ? parameters_.reply_ns : parameters_.handler_ns);
  ns += lines_ns(process->state_core_, core, parameters_.state_lines, kernel_lines);
  process->state_core_ = core;
  if (!reply && type != wire::PacketType::medium) return ns;
  const auto bytes = static_cast<double>(payload(f, reply ? kReplyHeader : kMediumHeader));
  // A copy reads and writes memory that no cache holds.
  kernel_lines.lines += static_cast<std::uint64_t>(2 * bytes / kLine);
  if (reply && setup_.copies == Copies::ignored) return ns;
  if (!by_engine(reply, bytes)) {
    kernel_lines.moved += static_cast<std::uint64_t>(2 * bytes / kLine);
    return ns + bus_.copy(bytes, time_of(bytes, parameters_.memcpy_rate));
  }
  // The copy engine's accesses do not count.
  kernel_lines.lines -= static_cast<std::uint64_t>(2 * bytes / kLine);
  ns += engine_copy_ns(bytes);
  // Each fragment of a medium message is reported to the library, so the driver waits for its copy.
  return reply ? ns : ns + engine_wait_ns();
}

bool Host::by_engine(bool reply, double bytes) const {
  const bool offloads = setup_.copies == Copies::all || (reply && setup_.copies == Copies::engine);
  return offloads && bytes >= parameters_.engine_frame_least;
}

// Hands a copy to the engine. Returns the time that this takes.
double Host::engine_copy_ns(double bytes) {
  // The frame's buffer and the destination begin at different offsets in their pages.
  const double chunks = std::ceil(bytes / parameters_.engine_chunk) + parameters_.engine_split;
  const TimeNs start = std::max(engine_free_, scheduler_.now());
  engine_free_ = start + static_cast<TimeNs>(bus_.carry(2 * parameters_.engine_rate,
                                                        time_of(bytes, parameters_.engine_rate), start));
  return chunks * parameters_.engine_submit_ns;
}

void Host::deliver(std::uint32_t frame, std::uint32_t core) {
  Process* process = owner(frame);
  if (process == nullptr) return frames_.destroy(frame);
  if (!by_driver(frame)) return event(*process, core, frame);
  const std::uint64_t before = process->engine().completion_count();
  process->engine().on_frame(scheduler_.now(), frames_[frame].bytes);
  process->engine().progress(scheduler_.now());
  frames_.destroy(frame);
  sent(*process, core, true);
  timers_check(*process);
  if (process->engine().completion_count() == before) return;
  // The last frame waits until the copy engine has finished.
  cores_[core]->interrupted_by(
      {[this] { return engine_wait_ns(); }, [this, process, core] { completion_event(*process, core); }});
}

// Returns the time until the copy engine has finished everything.
double Host::engine_wait_ns() const {
  const double done = static_cast<double>(engine_free_) + parameters_.engine_latency_ns;
  return std::max(done - static_cast<double>(scheduler_.now()), 0.0);
}

// Reports the frame to the library.
void Host::event(Process& process, std::uint32_t core, std::uint32_t frame) {
  cores_[process.core_]->asked_by_process(
      {[this, &process, core, frame] {
         double ns =
             parameters_.library_ns + lines_ns(core, process.core_, parameters_.event_lines, user_lines);
         const SimFrame& f = frames_[frame];
         if (f.type() != wire::PacketType::medium) return ns;
         const auto bytes = static_cast<double>(payload(f, kMediumHeader));
         user_lines.lines += static_cast<std::uint64_t>(2 * bytes / kLine);
         // The copies of the engine are in no cache.
         const bool near = distance(core, process.core_) <= Distance::shared && !by_engine(false, bytes);
         user_lines.moved += static_cast<std::uint64_t>((near ? 1 : 2) * bytes / kLine);
         if (near) return ns + time_of(bytes, parameters_.memcpy_cached_rate);
         return ns + bus_.copy(bytes, time_of(bytes, parameters_.memcpy_rate));
       },
       [this, &process, frame] {
         process.engine().on_frame(scheduler_.now(), frames_[frame].bytes);
         process.engine().progress(scheduler_.now());
         frames_.destroy(frame);
         sent(process, process.core_, false);
         timers_check(process);
         if (process.engine().peek_done() != nullptr) progressed(process);
       }});
}

void Host::completion_event(Process& process, std::uint32_t core) {
  cores_[process.core_]->asked_by_process(
      {[this, &process, core] {
         return parameters_.library_ns + lines_ns(core, process.core_, parameters_.event_lines, user_lines);
       },
       [this, &process] { progressed(process); }});
}

// Calls the application if there are completions that no earlier call announced.
void Host::progressed(Process& process) {
  const std::uint64_t count = process.engine().completion_count();
  const auto fresh = static_cast<double>(count - process.completions_announced_);
  process.completions_announced_ = count;
  if (!process.on_progress || fresh == 0) return;
  cores_[process.core_]->asked_by_process(
      {[this, fresh] { return setup_.mpi ? fresh * parameters_.mpi_ns : 0; },
       [&process] { process.on_progress(); }});
}

// Charges the core for one frame after the other, and sends it.
void Host::sent(Process& process, std::uint32_t core, bool interrupt) {
  bool first = true;
  for (; !process.out_.empty(); process.out_.pop_front()) {
    const std::uint32_t frame = process.out_.front();
    const wire::PacketType type = frames_[frame].type();
    double ns = parameters_.transmit_ns;
    if (type == wire::PacketType::pull_reply) ns = parameters_.transmit_reply_ns;
    if (type == wire::PacketType::medium)
      ns = parameters_.transmit_data_ns + time_of(static_cast<double>(payload(frames_[frame], kMediumHeader)),
                                                  parameters_.memcpy_cached_rate);
    if (first && !interrupt) ns += parameters_.syscall_ns;
    first = false;
    Work work{[this, core, ns] { return transmit_queues_.take(core, ns); },
              [this, frame] { transmit(frame); }};
    if (interrupt)
      cores_[core]->interrupted_by(std::move(work));
    else
      cores_[core]->asked_by_process(std::move(work));
  }
}

void Host::timers_check(Process& process) {
  const TimeNs at = process.engine().next_deadline();
  if (at == protocol::kNever || at >= process.wake_at_) return;
  process.wake_at_ = at;
  scheduler_.at(at, [this, &process] {
    process.wake_at_ = protocol::kNever;
    if (process.engine().next_deadline() > scheduler_.now()) return timers_check(process);
    process.call(0, [this, &process] { process.engine().progress(scheduler_.now()); });
  });
}

// Returns the time of a copy from the memory of one process to that of another.
double Host::local_copy_ns(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  const auto length = static_cast<double>(bytes);
  const bool cached = distance(from, to) <= Distance::shared && length * 2 <= parameters_.cache_bytes;
  if (cached) return time_of(length, parameters_.local_shared_rate);
  return bus_.copy(length, time_of(length, parameters_.local_far_rate));
}

}  // namespace omx::simulation::nic
