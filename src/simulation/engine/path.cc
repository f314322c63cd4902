// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

constexpr TimeNs kSettleLimit = 60'000 * kMillisecond;
constexpr TimeNs kHeldLeast = 20'000;
constexpr std::uint64_t kQueueLeast = 256U << 10;
constexpr std::uint64_t kHostRate = 10'000'000'000;  // so that only the switch port limits the rate
constexpr std::uint32_t kSender = 0, kReceiver = 1;

WorldOptions world_options(const PathOptions& options) {
  const std::uint64_t round_trip = static_cast<std::uint64_t>(2e-9 * static_cast<double>(options.delay) / 8 *
                                                              static_cast<double>(options.bits_per_second));
  WorldOptions world;
  world.seed = options.seed;
  world.switch_port.bits_per_second = options.bits_per_second;
  world.switch_port.delay = options.delay / 2;
  world.switch_port.queue_bytes =
      options.queue_bytes > 0 ? options.queue_bytes : std::max(round_trip, kQueueLeast);
  return world;
}

class Path {
 public:
  explicit Path(const PathOptions& options);
  PathResult run();

 private:
  struct Message {
    std::vector<std::byte> data;
    bool sends = false;
  };

  bool connect();
  void post(Message& message);
  void send(Message& message);
  void reap(SimHost& host);
  void ended(const Completion& completion);
  SimHost& sender() { return world_.host(kSender); }
  SimHost& receiver() { return world_.host(kReceiver); }

  PathOptions options_;
  World world_;
  protocol::Peer* to_ = nullptr;
  std::vector<std::unique_ptr<Message>> messages_;
  bool stopped_ = false;
  std::uint64_t received_ = 0;  // messages
  PathResult result_;
};

Path::Path(const PathOptions& options) : options_(options), world_(world_options(options)) {
  HostOptions host;
  host.config.mtu = options.mtu;
  host.port.bits_per_second = std::max(options.bits_per_second, kHostRate);
  host.port.delay = options.delay - options.delay / 2;
  host.port.queue_bytes = 1ULL << 30;  // the kernel makes a sender wait instead of dropping
  host.ring_frames = 1U << 20;
  for (int i = 0; i < 2; i++) world_.add(host);
  world_.on_activity([this](SimHost& busy) { reap(busy); });
}

bool Path::connect() {
  if (!sender().engine().connect(sender().clock(), receiver().nic(), 0, 0, 0, nullptr, false)) return false;
  sender().deadline_check();
  return world_.run_until([this] { return to_ != nullptr || !result_.failure.empty(); }, kSettleLimit) && to_;
}

void Path::post(Message& message) {
  const Segment segment{message.data.data(), options_.length};
  protocol::ReceiveOp op;
  op.segments = {&segment, 1};
  op.match_mask = 0;
  op.context = &message;
  if (!receiver().engine().receive(receiver().clock(), op)) result_.failure = "a receive was refused";
}

void Path::send(Message& message) {
  const Segment segment{message.data.data(), options_.length};
  protocol::SendOp op;
  op.peer = to_;
  op.segments = {&segment, 1};
  op.context = &message;
  if (!sender().engine().send(sender().clock(), op)) result_.failure = "a send was refused";
}

void Path::ended(const Completion& c) {
  if (c.status != Status::success) {
    result_.failure = fmt::format("a request ended with status {}", static_cast<int>(c.status));
    return;
  }
  if (c.kind == RequestKind::connect) {
    to_ = c.peer;
    return;
  }
  Message& message = *static_cast<Message*>(c.context);
  if (c.kind == RequestKind::receive) {
    received_++;
    if (message.data != messages_[0]->data) result_.failure = "a message arrived damaged";
    std::fill(message.data.begin(), message.data.end(), std::byte{0});
  }
  if (stopped_) return;
  if (message.sends)
    send(message);
  else
    post(message);
}

void Path::reap(SimHost& host) {
  while (Request* r = host.engine().peek_done()) ended(host.engine().consume(r));
}

PathResult Path::run() {
  if (!connect()) {
    if (result_.failure.empty()) result_.failure = "the hosts did not connect";
    return result_;
  }
  FaultPlan& faults = world_.faults().plan;
  faults.loss = options_.loss;
  faults.reorder = options_.reorder;
  faults.reorder_most =
      options_.held_most > 0 ? options_.held_most : std::max(options_.delay / 5, kHeldLeast);
  // There are twice as many receives as sends, so that each message finds one.
  for (std::uint32_t i = 0; i < 3 * options_.window; i++) {
    Message& message = *messages_.emplace_back(std::make_unique<Message>());
    message.sends = i < options_.window;
    message.data.resize(options_.length);
    if (message.sends) random_fill(message.data, 1);
  }
  if (options_.sleeps) receiver().engine().set_sleeping(receiver().clock(), true);
  for (const auto& message : messages_)
    if (!message->sends) post(*message);
  for (const auto& message : messages_)
    if (message->sends) send(*message);
  sender().deadline_check();
  receiver().deadline_check();
  const auto failed = [this] { return !result_.failure.empty(); };
  (void)world_.run_until(failed, options_.warm_up);
  const std::uint64_t before = received_;
  const TimeNs from = world_.now();
  (void)world_.run_until(failed, options_.time);
  const double seconds = static_cast<double>(world_.now() - from) / 1e9;
  result_.bytes_per_second = static_cast<double>(received_ - before) * options_.length / seconds;
  result_.tcp_bytes_per_second = tcp_rate(options_);
  result_.given_up = sender().counters()[Counter::peer_lost] + receiver().counters()[Counter::peer_lost];
  stopped_ = true;
  const auto units = [&](std::uint32_t unit) {
    return static_cast<double>((options_.length + unit - 1) / unit);
  };
  const wire::Sizes& sizes = to_->agreed.sizes;
  const bool large = options_.length > sender().engine().config().rndv_threshold;
  const double needed =
      static_cast<double>(received_) * units(large ? sizes.pull_reply_max : sizes.medium_frag);
  const auto& sent = sender().counters();
  const std::uint64_t frames = sent[Counter::send_pull_reply] + sent[Counter::send_medium_frag] +
                               sent[Counter::send_small] + sent[Counter::send_tiny];
  if (needed > 0) result_.resent_share = std::max(0.0, static_cast<double>(frames) / needed - 1);
  return result_;
}

}  // namespace

double tcp_rate(const PathOptions& options) {
  const double line = static_cast<double>(options.bits_per_second) / 8;
  if (options.loss <= 0) return line;
  const double segment = options.mtu - 52.0;  // IP, TCP and time stamps
  const double round_trip = 2e-9 * static_cast<double>(options.delay) + segment / line;
  const double cubic = 1.054 * std::pow(round_trip / options.loss, 0.75);
  const double reno = std::sqrt(1.5 / options.loss);
  return std::min(line, std::max(cubic, reno) * segment / round_trip);
}

PathResult path_run(const PathOptions& options) {
  Path run(options);
  return run.run();
}

}  // namespace omx::simulation
