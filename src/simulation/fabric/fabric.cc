// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/fabric.h"

#include <algorithm>
#include <cassert>

#include "base/crc32c.h"

namespace omx::simulation::fabric {

namespace {

constexpr std::uint64_t kTransmit = 1ULL << 32;
constexpr std::size_t kDigested = 64;  // bytes of each frame: the headers
constexpr TimeNs kConnectLimit = 60'000 * protocol::kMillisecond;
constexpr TimeNs kSettle = 10 * protocol::kMillisecond;  // until acknowledgements and probes are through

std::uint64_t mix(std::uint64_t digest, std::uint64_t value) {
  return (digest ^ value) * 0x9e3779b97f4a7c15ULL + (digest >> 29);
}

}  // namespace

Fabric::Fabric(const FabricOptions& options)
    : options_(options),
      tree_(options.tree),
      random_(options.seed),
      left_(tree_.hosts()),
      sent_(options.message_most),
      received_(options.message_most) {
  assert(options.poll_least <= options.poll_most);
  PortLimits limits;
  limits.bits_per_second = options_.bits_per_second;
  limits.delay = options_.delay;
  ports_.reserve(tree_.ports());
  for (std::uint32_t i = 0; i < tree_.ports(); i++) {
    // A host's NIC drops nothing: the host waits for it.
    limits.queue_bytes = tree_.tier(i) == Tier::nic ? 1ULL << 40 : options_.queue_bytes;
    ports_.emplace_back(limits, tree_.tier(i) == Tier::nic ? 0 : options_.mark_bytes);
  }
  hosts_.resize(tree_.hosts());
}

Fabric::~Fabric() = default;

Host& Fabric::host(std::uint32_t index) {
  if (!hosts_[index]) hosts_[index] = std::make_unique<Host>(*this, index);
  return *hosts_[index];
}

std::uint32_t Fabric::tcp_add(std::uint32_t from, std::uint32_t to, TcpKind kind) {
  const auto number = static_cast<std::uint32_t>(flows_.size());
  flows_.push_back(std::make_unique<TcpFlow>(*this, TcpEnds{number, from, to}, kind));
  return number;
}

void Fabric::completed(Host& host, const protocol::Completion& completion) {
  if (completion.kind == protocol::RequestKind::connect) {
    connects_--;
    if (completion.status != protocol::Status::success) connect_failed_ = true;
    return;
  }
  if (on_completion) on_completion(host, completion);
}

bool Fabric::connect(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) {
  for (const auto& [from, to] : pairs) {
    host(to);
    connects_++;
    if (!host(from).connect(to)) return false;
    run_for(options_.poll_least);  // apart, as programs start
  }
  if (!run_until([this] { return connects_ == 0; }, kConnectLimit)) return false;
  run_for(kSettle);
  return !connect_failed_;
}

bool Fabric::run_until(const std::function<bool()>& condition, TimeNs limit) {
  const TimeNs end = now() + limit;
  while (!condition()) {
    if (events_.step(end)) continue;
    events_.skip_to(end);
    return condition();
  }
  return true;
}

void Fabric::run_for(TimeNs time) {
  const TimeNs end = now() + time;
  while (events_.step(end)) {
  }
  events_.skip_to(end);
}

void Fabric::transmit_at(TimeNs at, std::uint32_t packet) {
  delayed_++;
  schedule(at, *this, kTransmit | packet);
}

void Fabric::transmit(std::uint32_t index) {
  Packet& packet = packets_[index];
  assert(packet.to < tree_.hosts());
  totals_.frames++;
  digest_ = mix(digest_, now());
  digest_ = mix(digest_, packet.length + (std::uint64_t{packet.from} << 32));
  // The hash of a switch sees the addresses, and the ports of TCP.
  std::uint64_t flow = std::uint64_t{packet.from} << 32 | packet.to;
  if (packet.is_tcp()) {
    flow ^= std::uint64_t{packet.tcp.flow + 1} << 20;
  } else {
    totals_.engine_frames++;
    digest_ = mix(digest_, crc32c(0, packet.bytes.data(), std::min(packet.bytes.size(), kDigested)));
  }
  packet.path = tree_.path(packet.from, packet.to, flow ^ (options_.seed << 52));
  on_event(index);
}

// Sends a frame by the next port on its way.
void Fabric::on_event(std::uint64_t argument) {
  const auto index = static_cast<std::uint32_t>(argument);
  if (argument & kTransmit) {
    delayed_--;
    return transmit(index);
  }
  Packet& packet = packets_[index];
  if (packet.hop == packet.path.count) return arrived(index);
  const std::uint32_t port = packet.path.ports[packet.hop++];
  const OutputQueue::Sent sent = ports_[port].send(now(), packet.length);
  if (sent.at == 0) {
    totals_.dropped[static_cast<std::size_t>(tree_.tier(port))]++;
    (packet.is_tcp() ? totals_.tcp_dropped : totals_.engine_dropped)++;
    packets_.destroy(index);
    return;
  }
  packet.marked |= sent.marked;
  schedule(packet.hop == 1 ? blurred(packet, sent.at) : sent.at, *this, index);
}

// Returns a random time for a frame to arrive from a NIC, late by at most its own time and in order. Without
// it a sender that keeps pace with a full port would take each place that becomes free, and lock out all
// others. Hosts are never that regular (Floyd and Jacobson, "On traffic phase effects in packet-switched
// gateways", 1991, who add the same time).
TimeNs Fabric::blurred(const Packet& packet, TimeNs at) {
  at += random_.below(ports_[packet.from].port().time_of(packet.length + Port::kCableBytes) + 1);
  return left_[packet.from] = std::max(left_[packet.from], at);
}

void Fabric::arrived(std::uint32_t index) {
  Packet& packet = packets_[index];
  totals_.arrived++;
  if (on_arrival) on_arrival(packet);
  if (!packet.is_tcp()) return host(packet.to).arrived(index);
  TcpSegment segment = packet.tcp;
  if (!segment.acknowledges) segment.marked = packet.marked;
  packets_.destroy(index);
  flows_[segment.flow]->arrived(segment);
}

std::size_t Fabric::waiting_in_rings() const {
  std::size_t waiting = 0;
  for (const auto& host : hosts_) waiting += host ? host->waiting() : 0;
  return waiting;
}

Fabric::Totals Fabric::totals() const {
  Totals totals = totals_;
  totals.events = events_.happened();
  return totals;
}

QueueRecord Fabric::queues(Tier tier) {
  QueueRecord all;
  for (std::uint32_t i = 0; i < tree_.ports(); i++)
    if (tree_.tier(i) == tier) all.add(ports_[i].record());
  return all;
}

void Fabric::queues_clear() {
  for (OutputQueue& port : ports_) port.record().clear();
}

}  // namespace omx::simulation::fabric
