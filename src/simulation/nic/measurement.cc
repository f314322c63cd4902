// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/measurement.h"

namespace omx::simulation::nic {

Measurement::Measurement(const WorkOptions& options) : network(options.network), options_(options) {
  if (!network.connect_all()) result_.failure = "not all processes connected";
}

WorkResult Measurement::totals() {
  WorkResult t;
  for (std::uint32_t h = 0; h < network.host_count(); h++) {
    Host& host = network.host(h);
    const NicCounters& c = host.nic().counters();
    t.frames += c.frames;
    t.interrupts += c.interrupts;
    t.dropped += c.dropped;
    t.kernel.lines += host.kernel_lines.lines;
    t.kernel.moved += host.kernel_lines.moved;
    t.user.lines += host.user_lines.lines;
    t.user.moved += host.user_lines.moved;
    if (h != receiver()) continue;
    t.receiver_interrupts = c.interrupts;
    for (std::uint32_t i = 0; i < kCores; i++) {
      t.receiver_interrupt_ns += host.core(i).interrupt_ns();
      t.receiver_process_ns += host.core(i).process_ns();
    }
  }
  return t;
}

void Measurement::begin() {
  before_ = totals();
  started_ = network.now();
}

WorkResult Measurement::end(std::uint64_t messages) {
  if (!result_.failure.empty()) return result_;
  WorkResult r = totals();
  r.frames -= before_.frames;
  r.interrupts -= before_.interrupts;
  r.dropped -= before_.dropped;
  r.kernel.lines -= before_.kernel.lines;
  r.kernel.moved -= before_.kernel.moved;
  r.user.lines -= before_.user.lines;
  r.user.moved -= before_.user.moved;
  r.receiver_interrupts -= before_.receiver_interrupts;
  r.receiver_interrupt_ns -= before_.receiver_interrupt_ns;
  r.receiver_process_ns -= before_.receiver_process_ns;
  r.messages = messages;
  r.time_ns = static_cast<double>(network.now() - started_);
  r.digest = network.digest();
  return r;
}

void Measurement::send(Process& from, protocol::Peer* to, std::span<std::byte> data, std::uint64_t match,
                       bool synchronous, void* context) {
  const protocol::Segment segment{data.data(), static_cast<std::uint32_t>(data.size())};
  protocol::SendOp op;
  op.peer = to;
  op.segments = {&segment, 1};
  op.match_info = match;
  op.synchronous = synchronous;
  op.context = context;
  if (!from.engine().send(network.now(), op)) result_.failure = "a send was refused";
}

void Measurement::receive(Process& at, std::span<std::byte> data, std::uint64_t match, void* context) {
  const protocol::Segment segment{data.data(), static_cast<std::uint32_t>(data.size())};
  protocol::ReceiveOp op;
  op.segments = {&segment, 1};
  op.match_info = match;
  op.context = context;
  if (!at.engine().receive(network.now(), op)) result_.failure = "a receive was refused";
}

}  // namespace omx::simulation::nic
