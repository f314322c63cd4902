// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/pair.h"

#include "base/mac.h"
#include "base/random.h"
#include "wire/codec.h"

namespace omx::simulation::nic {

namespace {
constexpr NicId kFirstNic = 0x020000000001;
constexpr std::uint64_t kPrime = 0x100000001b3;

PortLimits port_limits(const Parameters& p) {
  PortLimits limits;
  limits.bits_per_second = static_cast<std::uint64_t>(p.link_bits);
  limits.delay = static_cast<TimeNs>(p.hardware_ns - p.dma_latency_ns);
  limits.queue_bytes = 1ULL << 30;  // the kernel makes a sender wait
  return limits;
}
}  // namespace

Pair::Pair(const PairOptions& options) : options_(options) {
  protocol::Config config;
  config.mode = options.mode;
  config.mtu = options.mtu;
  config.base_frame = options.mtu + wire::kEthernetHeader;
  // The original shared no frames, and sent again by clock alone, late.
  config.pack = false;
  config.notacked_max_extended = config.notacked_max;
  config.ack_delay_extended = config.ack_delay;
  config.pull_delay_extended = config.pull_patience_least = config.pull_delay;
  config.resend_delay_extended = config.tail_delay = config.resend_delay;
  config.pull_blocks = options.pull_blocks;
  for (std::uint32_t i = 0; i < 2; i++) {
    ports_.emplace_back(port_limits(options_.parameters));
    config.nic = kFirstNic + i;
    config.session = 0x1001 + i * 0x1000;
    hosts_.push_back(std::make_unique<Host>(later_, frames_, options_.parameters, options_.host, config,
                                            [this, i](std::uint32_t frame) { transmit(i, frame); }));
  }
  Random random(options_.seed);
  run_for(random.below(10'000));
}

void Pair::transmit(std::uint32_t from, std::uint32_t frame) {
  SimFrame& f = frames_[frame];
  f.from = from;
  if (on_transmit) on_transmit(from, f);
  digest_ = (digest_ ^ now()) * kPrime;
  for (const std::byte b : f.bytes) digest_ = (digest_ ^ static_cast<std::uint64_t>(b)) * kPrime;
  const TimeNs at = ports_[from].send(now(), f.bytes.size());
  later_.at(at, [this, from, frame] { hosts_[1 - from]->frame_arrived(frame); });
}

void Pair::send_invalid(std::uint32_t from, std::uint32_t bytes) {
  const std::uint32_t frame = frames_.create();
  auto& b = frames_[frame].bytes;
  b.assign(std::max<std::size_t>(bytes, wire::kMinFrame), std::byte{0});
  b[16] = static_cast<std::byte>(0xFA);
  transmit(from, frame);
}

bool Pair::connect_all() {
  std::uint64_t left = 0;
  for (std::uint32_t h = 0; h < 2; h++) {
    for (std::uint32_t i = 0; i < host(h).process_count(); i++) {
      Process& p = process(h, i);
      p.call(0, [this, &p, &left, h] {
        for (std::uint32_t to = 0; to < host(1 - h).process_count(); to++)
          left += p.engine().connect(now(), kFirstNic + 1 - h, static_cast<std::uint8_t>(to), 0, 0, nullptr,
                                     false)
                      ? 1
                      : 1'000'000;
      });
      p.on_progress = [&p, &left] {
        while (protocol::Request* r = p.engine().peek_done()) {
          if (p.engine().consume(r).status == protocol::Status::success) left--;
        }
      };
    }
  }
  run_for(100'000);
  const bool connected = run_until([&left] { return left == 0; });
  run_for(200'000'000);  // probes have proven the frame size
  for (std::uint32_t h = 0; h < 2; h++)
    for (std::uint32_t i = 0; i < host(h).process_count(); i++) process(h, i).on_progress = nullptr;
  return connected;
}

protocol::Partner* Pair::partner(std::uint32_t h, std::uint32_t i, std::uint32_t peer) {
  return process(h, i).engine().find_partner(kFirstNic + 1 - h, static_cast<std::uint8_t>(peer));
}

bool Pair::run_until(const std::function<bool()>& condition, TimeNs limit) {
  const TimeNs end = now() + limit;
  while (!condition()) {
    if (now() > end || !later_.step()) return false;
  }
  return true;
}

void Pair::run_for(TimeNs time) {
  bool over = false;
  later_.after(static_cast<double>(time), [&over] { over = true; });
  while (!over) later_.step();
}

}  // namespace omx::simulation::nic
