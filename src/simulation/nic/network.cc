// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/network.h"

#include <algorithm>

#include "base/mac.h"
#include "base/random.h"
#include "wire/codec.h"

namespace omx::simulation::nic {

namespace {
constexpr NicId kFirstNic = 0x020000000001;
constexpr std::uint64_t kPrime = 0x100000001b3;
constexpr std::uint64_t kRefused = 1'000'000'000;

PortLimits port_limits(const Parameters& p, double delay_ns) {
  PortLimits limits;
  limits.bits_per_second = static_cast<std::uint64_t>(p.link_bits);
  limits.delay = static_cast<TimeNs>(delay_ns);
  limits.queue_bytes = 1ULL << 30;  // the kernel makes a sender wait
  return limits;
}

}  // namespace

protocol::Config engine_config(const NetworkOptions& options) {
  protocol::Config config;
  config.mode = options.mode;
  config.mtu = options.mtu;
  config.base_frame = options.mtu + wire::kEthernetHeader;
  // The original did not coalesce frames and sent no large message unscheduled. It repeated by timer alone,
  // and late.
  config.coalesce = false;
  config.reliability.notacked_max_extended = config.reliability.notacked_max;
  config.reliability.ack_delay_extended = config.reliability.ack_delay;
  config.reliability.pull_delay_extended = config.reliability.pull_patience_least =
      config.reliability.pull_delay;
  config.reliability.resend_delay_extended = config.reliability.resend_delay_least =
      config.reliability.resend_delay;
  config.pull_blocks = options.pull_blocks;
  config.pull_quiet = config.pull_window = options.own_pulls;
  config.unscheduled_bytes = 0;
  return config;
}

Network::Network(const NetworkOptions& options) : options_(options) {
  protocol::Config config = engine_config(options);
  const Parameters& p = options_.parameters;
  const double hardware = p.hardware_ns - p.dma_latency_ns;
  const bool cable = options.hosts == 0;
  HostSetup far = options_.host;
  if (!options_.far_cores.empty()) far.process_cores = options_.far_cores;
  for (std::uint32_t i = 0; i < (cable ? 2 : options.hosts); i++) {
    ports_.emplace_back(port_limits(p, cable ? hardware : hardware / 2 + p.switch_ns));
    if (!cable) switch_ports_.emplace_back(port_limits(p, hardware / 2));
    config.nic = kFirstNic + i;
    config.session = 0x1001 + i * 0x1000;
    hosts_.push_back(std::make_unique<Host>(scheduler_, frames_, p, i == 0 ? options_.host : far, config,
                                            [this, i](std::uint32_t frame) { transmit(i, frame); }));
  }
  Random random(options_.seed);
  run_for(random.below(10'000));
}

void Network::transmit(std::uint32_t from, std::uint32_t frame) {
  SimFrame& f = frames_[frame];
  f.from = from;
  if (on_transmit) on_transmit(from, f);
  digest_ = (digest_ ^ now()) * kPrime;
  for (const std::byte b : f.bytes) digest_ = (digest_ ^ static_cast<std::uint64_t>(b)) * kPrime;
  const TimeNs at = ports_[from].send(now(), f.bytes.size());
  scheduler_.at(at, [this, from, frame] {
    if (options_.hosts == 0) return hosts_[1 - from]->frame_arrived(frame);
    through_switch(from, frame);
  });
}

// Forwards a frame. Broadcast frames have no receiver in these networks.
void Network::through_switch(std::uint32_t from, std::uint32_t frame) {
  const std::uint64_t to = frames_[frame].destination() - kFirstNic;
  if (to >= hosts_.size() || to == from) return frames_.destroy(frame);
  const TimeNs at = switch_ports_[to].send(now(), frames_[frame].bytes.size());
  if (at == 0) return frames_.destroy(frame);
  scheduler_.at(at, [this, to, frame] { hosts_[to]->frame_arrived(frame); });
}

void Network::send_invalid(std::uint32_t from, std::uint32_t bytes) {
  const std::uint32_t frame = frames_.create();
  auto& b = frames_[frame].bytes;
  b.assign(std::max<std::size_t>(bytes, wire::kMinFrame), std::byte{0});
  b[16] = static_cast<std::byte>(0xFA);
  transmit(from, frame);
}

std::uint32_t Network::hub_process(std::uint32_t h, std::uint32_t i) {
  return ((h - 1) * host(h).process_count() + i) % host(0).process_count();
}

bool Network::know(std::uint32_t h, std::uint32_t i, std::uint32_t to, std::uint32_t peer) {
  if (h == to) return false;
  if (options_.peers == Peers::all) return true;
  if (h == 0) return hub_process(to, peer) == i;
  return to == 0 && hub_process(h, i) == peer;
}

// Begins connects and returns their number.
std::uint64_t Network::connect(std::uint32_t h, std::uint32_t i) {
  std::uint64_t begun = 0;
  for (std::uint32_t to = 0; to < host_count(); to++) {
    for (std::uint32_t peer = 0; peer < host(to).process_count(); peer++) {
      if (!know(h, i, to, peer)) continue;
      const auto good = process(h, i).engine().connect(now(), kFirstNic + to, static_cast<std::uint8_t>(peer),
                                                       0, 0, nullptr, false);
      begun += good.has_value() ? 1 : kRefused;
    }
  }
  return begun;
}

bool Network::connect_all() {
  std::uint64_t left = 0;
  const auto each = [this](const auto& what) {
    for (std::uint32_t h = 0; h < host_count(); h++)
      for (std::uint32_t i = 0; i < host(h).process_count(); i++) what(h, i, process(h, i));
  };
  each([&](std::uint32_t h, std::uint32_t i, Process& p) {
    p.call(0, [this, &left, h, i] { left += connect(h, i); });
    p.on_progress = [&p, &left] {
      while (protocol::Request* r = p.engine().peek_done()) {
        if (p.engine().consume(r).status == protocol::Status::success) left--;
      }
    };
  });
  run_for(100'000);
  const bool connected = run_until([&left] { return left == 0; });
  run_for(200'000'000);  // until probes have proven the frame size
  each([](std::uint32_t, std::uint32_t, Process& p) { p.on_progress = nullptr; });
  return connected;
}

protocol::Peer* Network::peer(std::uint32_t h, std::uint32_t i, std::uint32_t to, std::uint32_t index) {
  return process(h, i).engine().find_peer(kFirstNic + to, static_cast<std::uint8_t>(index));
}

bool Network::run_until(const std::function<bool()>& condition, TimeNs limit) {
  const TimeNs end = now() + limit;
  while (!condition()) {
    if (now() > end || !scheduler_.step()) return false;
  }
  return true;
}

void Network::run_for(TimeNs time) {
  bool over = false;
  scheduler_.after(static_cast<double>(time), [&over] { over = true; });
  while (!over) scheduler_.step();
}

}  // namespace omx::simulation::nic
