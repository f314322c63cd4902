// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/nic.h"

#include <algorithm>

namespace omx::simulation::nic {

Nic::Nic(Scheduler& scheduler, const Parameters& parameters, const NicOptions& options,
         std::function<void(std::uint32_t, double)> interrupt)
    : scheduler_(scheduler), parameters_(parameters), options_(options), interrupt_(std::move(interrupt)) {
  for (std::uint32_t i = 0; i < options_.queues; i++)
    queues_.emplace_back(Moderator(options_.strategy, parameters_.timeout_ns, parameters_.adaptive_step_ns,
                                   parameters_.timeout_frames));
}

std::uint32_t Nic::queue_of(int endpoint) const {
  return endpoint < 0 ? 0 : static_cast<std::uint32_t>(endpoint) % options_.queues;
}

bool Nic::arrived(std::uint32_t frame, std::size_t bytes, int endpoint, bool marked) {
  const Arrived now{frame, bytes, queue_of(endpoint), marked};
  if (paused_.empty() && room(now.queue)) {
    accept(now);
    return true;
  }
  if (parameters_.flow_control != 0) {
    paused_.push_back(now);
    return true;
  }
  counters_.dropped++;
  return false;
}

void Nic::accept(const Arrived& arrived) {
  queues_[arrived.queue].held++;
  queues_[arrived.queue].moderator.on_arrival();
  counters_.frames++;
  // Transfers follow one another. Each is complete some time later, while the bus carries the next one.
  dma_free_ = std::max(dma_free_, scheduler_.now()) +
              static_cast<TimeNs>(static_cast<double>(arrived.bytes) * 1e9 / parameters_.dma_rate);
  const double more = parameters_.dma_latency_ns + (options_.queues > 1 ? parameters_.multiqueue_ns : 0);
  scheduler_.at(dma_free_ + static_cast<TimeNs>(more),
                [this, arrived] { dma_done(arrived.queue, arrived.frame, arrived.marked); });
}

void Nic::dma_done(std::uint32_t index, std::uint32_t frame, bool marked) {
  Queue& queue = queues_[index];
  queue.ready.push_back({frame, marked});
  if (queue.moderator.on_dma_done(marked)) return raise(index);
  timer_start(index);
}

void Nic::timer_start(std::uint32_t index) {
  Queue& queue = queues_[index];
  if (queue.timer) return;
  queue.timer = true;
  queue.timer_number++;
  scheduler_.after(queue.moderator.timeout(), [this, index, number = queue.timer_number] {
    Queue& q = queues_[index];
    if (!q.timer || q.timer_number != number) return;
    q.timer = false;
    q.moderator.on_timeout();
    raise(index);
  });
}

// Raises an interrupt. The next one is delivered while the host handles this one.
void Nic::raise(std::uint32_t index, double ago_ns) {
  Queue& queue = queues_[index];
  if (queue.claimed) {
    if (!queue.owed) queue.owed_since = scheduler_.now();
    queue.owed = true;
    return;
  }
  queue.claimed = true;
  queue.timer = queue.owed = false;
  queue.announced = queue.ready.size();
  queue.moderator.on_raised();
  counters_.interrupts++;
  interrupt_(index, ago_ns);
}

bool Nic::take(std::uint32_t index, std::uint32_t& frame) {
  Queue& queue = queues_[index];
  if (queue.announced == 0 && parameters_.poll_on != 0 && !queue.ready.empty()) {
    queue.announced = queue.ready.size();
    queue.timer = queue.owed = false;
    queue.moderator.on_raised();
  }
  if (queue.announced == 0) return false;
  queue.announced--;
  frame = queue.ready.front().frame;
  queue.marked = queue.ready.front().marked;
  queue.ready.pop_front();
  queue.held--;
  for (; !paused_.empty() && room(paused_.front().queue); paused_.pop_front()) accept(paused_.front());
  return true;
}

void Nic::poll_done(std::uint32_t index) {
  Queue& queue = queues_[index];
  queue.claimed = false;
  queue.moderator.on_handled(queue.marked);
  // Frames that were left had interrupts of their own, which found nothing to do.
  if (queue.announced > 0) return raise(index, parameters_.irq_delivery_ns);
  if (queue.owed) raise(index, static_cast<double>(scheduler_.now() - queue.owed_since));
}

}  // namespace omx::simulation::nic
