// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/scale.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/random.h"
#include "protocol/state/state.h"
#include "simulation/engine/world.h"

namespace omx::simulation {

namespace {

using protocol::Completion;
using protocol::Counter;
using protocol::kMillisecond;
using protocol::Request;
using protocol::RequestKind;
using protocol::Segment;
using protocol::Status;
using Bytes = std::vector<std::byte>;

constexpr TimeNs kSettleLimit = 1000 * 1000 * kMillisecond;
constexpr std::uint32_t kPosted = 256;  // the most receives that a host has posted

double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The state of a host's application.
struct Application {
  Bytes message;  // the one it sends to all others
  std::vector<protocol::Peer*> receivers;
  std::vector<std::unique_ptr<Bytes>> buffers;
  std::uint64_t to_post = 0, to_receive = 0, to_send = 0;
};

class Scale {
 public:
  explicit Scale(const ScaleOptions& options);
  ScaleResult run();

 private:
  bool sends_to(std::uint32_t host, std::uint32_t to) const {
    return host != to && (to == 0 || options_.shape == ScaleShape::all_to_all);
  }
  void connect_all();
  void post(std::uint32_t host, Bytes& buffer);
  void start(std::uint32_t host);
  void reap(SimHost& host);
  void ended(std::uint32_t host, const Completion& completion);
  std::uint64_t sum(Counter counter);
  void report();

  ScaleOptions options_;
  World world_;
  std::vector<Application> applications_;
  std::uint64_t connects_ = 0, pending_ = 0;  // connects; sends and receives
  TimeNs started_ = 0;
  ScaleResult result_;
};

WorldOptions world_options(const ScaleOptions& options) {
  WorldOptions world;
  world.switch_port.bits_per_second = options.bits_per_second;
  world.switch_port.queue_bytes = options.queue_bytes;
  return world;
}

Scale::Scale(const ScaleOptions& options)
    : options_(options), world_(world_options(options)), applications_(options.hosts) {
  world_.on_activity([this](SimHost& host) { reap(host); });
  HostOptions host;
  host.config.mtu = options.mtu;
  host.port.bits_per_second = options.bits_per_second;
  host.port.queue_bytes = 1ULL << 30;  // the kernel makes a sender wait instead of dropping
  host.ring_frames = 1U << 20;         // processors are infinitely fast here
  for (std::uint32_t i = 0; i < options.hosts; i++) world_.add(host);
}

void Scale::connect_all() {
  for (std::uint32_t i = 0; i < options_.hosts; i++) {
    SimHost& host = world_.host(i);
    for (std::uint32_t j = 0; j < options_.hosts; j++) {
      if (!sends_to(i, j)) continue;
      connects_++;
      if (!host.engine().connect(host.clock(), World::nic_of(j), 0, 0, 0, nullptr, false))
        result_.failure = "a connect was refused";
    }
    host.deadline_check();
  }
  const TimeNs start = world_.now();
  if (!world_.run_until([this] { return connects_ == 0 || !result_.failure.empty(); }, kSettleLimit))
    result_.failure = "not all hosts connected";
  result_.connecting = world_.now() - start;
  world_.run_for(10'000 * kMillisecond);  // until the frame sizes are known, too
}

void Scale::post(std::uint32_t host, Bytes& buffer) {
  applications_[host].to_post--;
  const Segment segment{buffer.data(), options_.length};
  protocol::ReceiveOp op;
  op.segments = {&segment, 1};
  op.match_mask = 0;
  op.context = &buffer;
  if (!world_.host(host).engine().receive(world_.host(host).clock(), op))
    result_.failure = "a receive was refused";
}

// Starts all sends of the host. Receives are posted before any host sends.
void Scale::start(std::uint32_t host) {
  Application& a = applications_[host];
  const Segment segment{a.message.data(), options_.length};
  for (std::uint32_t n = 0; n < options_.messages; n++) {
    for (protocol::Peer* to : a.receivers) {
      protocol::SendOp op;
      op.peer = to;
      op.segments = {&segment, 1};
      op.match_info = host;
      if (!world_.host(host).engine().send(world_.host(host).clock(), op))
        result_.failure = "a send was refused";
    }
  }
  reap(world_.host(host));
  world_.host(host).deadline_check();
}

void Scale::ended(std::uint32_t host, const Completion& c) {
  Application& a = applications_[host];
  if (c.status != Status::success) {
    result_.failure =
        fmt::format("host {}: a request ended with status {}", host, static_cast<int>(c.status));
    return;
  }
  if (c.kind == RequestKind::connect) {
    a.receivers.push_back(c.peer);
    connects_--;
    return;
  }
  pending_--;
  if (c.kind == RequestKind::send) {
    if (--a.to_send > 0) return;
    const TimeNs took = world_.now() - started_;
    if (result_.first_done == 0) result_.first_done = took;
    result_.last_done = took;
    return;
  }
  auto& buffer = *static_cast<Bytes*>(c.context);
  if (c.msg_length != options_.length || buffer != applications_[c.match_info].message)
    result_.failure = fmt::format("host {}: a message of host {} arrived damaged", host, c.match_info);
  result_.messages++;
  result_.bytes += c.msg_length;
  std::fill(buffer.begin(), buffer.end(), std::byte{0});
  if (a.to_post > 0) post(host, buffer);
}

void Scale::reap(SimHost& host) {
  while (Request* r = host.engine().peek_done()) ended(host.index(), host.engine().consume(r));
}

std::uint64_t Scale::sum(Counter counter) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < options_.hosts; i++) total += world_.host(i).counters()[counter];
  return total;
}

void Scale::report() {
  for (const Counter c :
       {Counter::send_tiny, Counter::send_small, Counter::send_medium_frag, Counter::send_pull_reply})
    result_.data_frames += sum(c);
  protocol::State& s = world_.host(0).engine().state();
  const auto parts = [&](std::uint32_t unit) {
    return std::uint64_t{std::max<std::uint32_t>((options_.length + unit - 1) / unit, 1)};
  };
  const wire::Sizes& sizes = s.peers.by_index[1]->agreed.sizes;
  const std::uint64_t per_message = options_.length <= 128 ? 1
                                    : options_.length <= s.config.rndv_threshold
                                        ? parts(sizes.medium_frag)
                                        : parts(sizes.pull_reply_max);
  result_.frames_needed = result_.messages * per_message;
  std::uint64_t receivers = options_.shape == ScaleShape::incast ? 1 : options_.hosts;
  result_.port_share = static_cast<double>(result_.bytes) / static_cast<double>(receivers) * 8e9 /
                       static_cast<double>(options_.bits_per_second) / static_cast<double>(result_.time);
  for (std::uint32_t i = 0; i < options_.hosts; i++)
    result_.deepest = std::max(result_.deepest, world_.switch_port(i).deepest);
  const auto memory = world_.host(0).engine().memory();
  result_.memory_per_peer = memory.peers / world_.host(0).engine().peer_count();
}

ScaleResult Scale::run() {
  connect_all();
  if (!result_.failure.empty()) return result_;
  for (std::uint32_t i = 0; i < options_.hosts; i++) {
    Application& a = applications_[i];
    a.message.resize(options_.length);
    random_fill(a.message, i);
    a.to_send = a.receivers.size() * options_.messages;
    const std::uint64_t senders = options_.shape == ScaleShape::all_to_all || i == 0 ? options_.hosts - 1 : 0;
    a.to_post = a.to_receive = senders * options_.messages;
    pending_ += a.to_send + a.to_receive;
    const std::uint64_t posted = std::min<std::uint64_t>(a.to_post, kPosted);
    for (std::uint64_t n = 0; n < posted; n++)
      post(i, *a.buffers.emplace_back(std::make_unique<Bytes>(options_.length)));
  }
  const auto before = world_.totals();
  started_ = world_.now();
  const double cpu = cpu_ns();
  for (std::uint32_t i = 0; i < options_.hosts; i++) start(i);
  const bool done =
      world_.run_until([this] { return pending_ == 0 || !result_.failure.empty(); }, kSettleLimit);
  result_.time = world_.now() - started_;
  result_.cpu_per_message =
      (cpu_ns() - cpu) / static_cast<double>(std::max<std::uint64_t>(result_.messages, 1));
  if (!done) result_.failure = fmt::format("{} requests never ended", pending_);
  result_.frames = world_.totals().frames - before.frames;
  result_.dropped = world_.totals().dropped - before.dropped;
  if (result_.failure.empty()) report();
  return result_;
}

}  // namespace

std::optional<ScaleShape> scale_shape(std::string_view name) {
  if (name == "incast") return ScaleShape::incast;
  if (name == "all-to-all") return ScaleShape::all_to_all;
  return std::nullopt;
}

ScaleResult scale_run(const ScaleOptions& options) {
  Scale run(options);
  return run.run();
}

}  // namespace omx::simulation
