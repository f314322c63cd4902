// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/traffic.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "simulation/fabric/message_sizes.h"
#include "simulation/fabric/statistics.h"

namespace omx::simulation::fabric {

namespace {

using protocol::Completion;
using protocol::kMillisecond;
using protocol::RequestKind;

constexpr double kNeighbourPart = 0.7;  // of the messages of an HPC program
constexpr std::size_t kSamples = 20'000;
constexpr TimeNs kTcpBefore = 20 * kMillisecond;  // TCP flows begin so long before the messages
constexpr int kAloneRounds = 8;                   // after one that finds the engines cold

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::uint64_t resident_bytes() {
  unsigned long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (std::fscanf(file, "%lu %lu", &total, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Draws the two hosts of a message.
class Pairs {
 public:
  Pairs(const Tree& tree, bool neighbours)
      : hosts_(tree.hosts()), side_(static_cast<std::uint32_t>(std::cbrt(hosts_))), neighbours_(neighbours) {}

  std::pair<std::uint32_t, std::uint32_t> draw(Random& random) const {
    const auto from = static_cast<std::uint32_t>(random.below(hosts_));
    if (neighbours_ && random.chance(kNeighbourPart)) {
      // Of a block of hosts in three dimensions, in the order of their ranks; the ends meet.
      const std::uint32_t steps[] = {1, side_, side_ * side_};
      const std::uint32_t step = steps[random.below(3)] % hosts_;
      const std::uint32_t to = (from + (random.chance(0.5) ? step : hosts_ - step)) % hosts_;
      if (to != from) return {from, to};
    }
    const auto other = static_cast<std::uint32_t>(random.below(hosts_ - 1));
    return {from, other < from ? other : other + 1};
  }

 private:
  std::uint32_t hosts_, side_;
  bool neighbours_;
};

// Returns which part of its links' rate a host may use if these pairs are to fill the narrowest tier.
double narrowest(const Tree& tree, const Pairs& pairs, Random& random) {
  double leaves = 0, pods = 0;
  for (std::size_t i = 0; i < kSamples; i++) {
    const auto [from, to] = pairs.draw(random);
    leaves += tree.leaf_of(from) != tree.leaf_of(to);
    pods += tree.pod_of(from) != tree.pod_of(to);
  }
  const double up = static_cast<double>(tree.spines()) / tree.hosts_per_leaf();  // pods have as much
  double most = 1;
  if (leaves > 0) most = std::min(most, up * kSamples / leaves);
  if (pods > 0) most = std::min(most, up * kSamples / pods);
  return most;
}

class Traffic final : public EventTarget {
 public:
  explicit Traffic(const TrafficOptions& options);
  TrafficResult run();
  void on_event(std::uint64_t argument) override;

 private:
  bool set_up();
  void tcp_start();
  void came(const Completion& completion);
  void alone_measure();
  std::uint64_t data_frames_all();
  void slowdowns_report();
  void report(const Fabric::Totals& before, std::uint64_t data_before);

  TrafficOptions options_;
  Fabric fabric_;
  Random random_;
  std::vector<Message> messages_;
  std::vector<TimeNs> took_;  // 0: it has not come
  std::uint64_t to_come_ = 0, came_in_time_ = 0;
  TimeNs started_ = 0, ended_ = 0;
  std::vector<std::uint64_t> tcp_before_;
  TrafficResult result_;
};

FabricOptions fabric_options(const TrafficOptions& options) {
  FabricOptions fabric = options.fabric;
  fabric.message_most = message_sizes(options.workload)->most();
  return fabric;
}

Traffic::Traffic(const TrafficOptions& options)
    : options_(options),
      fabric_(fabric_options(options)),
      random_(options.fabric.seed ^ 0x7CF),
      messages_(traffic_draw(options, fabric_.tree())),
      took_(messages_.size()),
      to_come_(messages_.size()) {
  fabric_.on_completion = [this](Host&, const Completion& completion) { came(completion); };
}

bool Traffic::set_up() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Message& message : messages_) pairs.emplace_back(message.from, message.to);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  // In random order. Otherwise all peers of one host would connect at once.
  for (std::size_t i = pairs.size(); i > 1; i--) std::swap(pairs[i - 1], pairs[random_.below(i)]);
  return fabric_.connect(pairs);
}

void Traffic::tcp_start() {
  const Tree& tree = fabric_.tree();
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++) {
    std::uint32_t from = 0, to = 0;
    do {
      from = static_cast<std::uint32_t>(random_.below(tree.hosts()));
      to = static_cast<std::uint32_t>(random_.below(tree.hosts()));
    } while (from == to || (tree.leaves() > 1 && tree.leaf_of(from) == tree.leaf_of(to)));
    fabric_.tcp(fabric_.tcp_add(from, to, options_.tcp_kind)).start();
  }
  if (options_.tcp_flows > 0) fabric_.run_for(kTcpBefore);
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++)
    tcp_before_.push_back(fabric_.tcp(i).figures().delivered);
}

void Traffic::on_event(std::uint64_t index) {
  const Message& message = messages_[index];
  fabric_.host(message.from).send(message.to, message.length, index);
  if (index + 1 < messages_.size()) fabric_.schedule(started_ + messages_[index + 1].at, *this, index + 1);
}

void Traffic::came(const Completion& completion) {
  if (completion.status != protocol::Status::success) {
    result_.failure = fmt::format("a request ended with status {}", static_cast<int>(completion.status));
    return;
  }
  if (completion.kind != RequestKind::receive) return;
  const std::uint64_t index = completion.match_info;
  const Message& message = messages_[index];
  if (took_[index] != 0) result_.failure = "a message came twice";
  if (completion.msg_length != message.length) result_.failure = "a message came with another length";
  ended_ = fabric_.now() - started_;
  took_[index] = ended_ - message.at;
  if (ended_ <= options_.duration) came_in_time_ += message.length;
  to_come_--;
}

std::uint64_t Traffic::data_frames_all() {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < fabric_.tree().hosts(); i++)
    if (fabric_.host_used(i)) all += data_frames(fabric_.host(i).counters());
  return all;
}

// Sends a message of the middle size of each bucket on an empty fabric, by the longest way.
void Traffic::alone_measure() {
  std::array<std::vector<std::uint32_t>, kBuckets.size()> lengths;
  for (const Message& message : messages_) lengths[bucket_of(message.length)].push_back(message.length);
  Fabric empty(fabric_options(options_));
  const std::uint32_t last = empty.tree().hosts() - 1;
  const std::pair<std::uint32_t, std::uint32_t> pair{0, last};
  TimeNs arrived = 0;
  empty.on_completion = [&](Host&, const Completion& completion) {
    if (completion.kind == RequestKind::receive) arrived = empty.now();
  };
  if (!empty.connect({&pair, 1})) return;
  for (std::size_t i = 0; i < kBuckets.size(); i++) {
    if (lengths[i].empty()) continue;
    const Message message{0, 0, last, quantile(lengths[i], 0.5)};
    TimeNs sum = 0;
    for (int round = 0; round <= kAloneRounds; round++) {
      empty.run_for(10 * kMillisecond);
      arrived = 0;
      const TimeNs sent = empty.now();
      empty.host(0).send(last, message.length, 0);
      empty.run_until([&] { return arrived > 0; }, options_.patience);
      if (round > 0) sum += arrived - sent;
    }
    result_.alone[i] = static_cast<double>(sum) / kAloneRounds /
                       static_cast<double>(empty_time(options_.fabric, empty.tree(), message));
  }
}

void Traffic::slowdowns_report() {
  const std::vector<TimeNs> ideal = ideal_times(options_.fabric, fabric_.tree(), messages_);
  std::vector<double> sent(fabric_.tree().hosts()), come(fabric_.tree().hosts());
  for (std::size_t i = 0; i < messages_.size(); i++) {
    const Message& m = messages_[i];
    const auto least = static_cast<double>(empty_time(options_.fabric, fabric_.tree(), m));
    const TimeNs took = took_[i] > 0 ? took_[i] : fabric_.now() - started_ - m.at;
    result_.engine.add(m.length, static_cast<double>(took) / least);
    result_.ideal.add(m.length, static_cast<double>(ideal[i]) / least);
    result_.bytes += m.length;
    sent[m.from] += m.length;
    if (took_[i] > 0 && m.at + took_[i] <= options_.duration) come[m.from] += m.length;
    if (took_[i] > 0) result_.frames_needed += fabric_.host(m.from).frames_needed(m.to, m.length);
  }
  std::vector<double> parts;
  for (std::size_t i = 0; i < sent.size(); i++)
    if (sent[i] > 0) parts.push_back(come[i] / sent[i]);
  result_.jain = jain(parts);
}

void Traffic::report(const Fabric::Totals& before, std::uint64_t data_before) {
  TrafficResult& r = result_;
  const Fabric::Totals now = fabric_.totals();
  double wire = 0;
  for (const Message& m : messages_)
    wire += static_cast<double>(wire_bytes(options_.fabric.config.mtu, m.length));
  const double host_bytes =
      static_cast<double>(options_.fabric.bits_per_second) / 8e9 * static_cast<double>(options_.duration);
  r.messages = messages_.size();
  r.unfinished = to_come_;
  r.time = ended_;
  r.host_load = wire / host_bytes / fabric_.tree().hosts();
  slowdowns_report();
  r.goodput = r.bytes > 0 ? static_cast<double>(came_in_time_) / static_cast<double>(r.bytes) : 0;
  r.frames = now.engine_frames - before.engine_frames;
  r.data_frames = data_frames_all() - data_before;
  for (std::size_t i = 0; i < kTiers; i++) {
    r.dropped[i] = now.dropped[i] - before.dropped[i];
    r.queue_p99[i] = fabric_.queues(static_cast<Tier>(i)).quantile(0.99);
  }
  r.ring_dropped = now.ring_dropped - before.ring_dropped;
  r.tcp_dropped = now.tcp_dropped - before.tcp_dropped;
  r.digest = fabric_.digest();
  r.cost.events = now.events;
  r.cost.packets = fabric_.packets_most();
  for (std::uint32_t i = 0; i < fabric_.tree().hosts(); i++) {
    if (!fabric_.host_used(i)) continue;
    r.cost.peers += fabric_.host(i).engine().peer_count();
    r.cost.peer_bytes += fabric_.host(i).engine().memory().peers;
  }
}

TrafficResult Traffic::run() {
  const double cpu = cpu_seconds();
  if (messages_.empty() || !set_up()) {
    result_.failure =
        messages_.empty() ? "no message was sent; the duration is too short" : "not all connected";
    return std::move(result_);
  }
  tcp_start();
  const Fabric::Totals before = fabric_.totals();
  const std::uint64_t data_before = data_frames_all();
  fabric_.queues_clear();
  started_ = fabric_.now();
  fabric_.schedule(started_ + messages_[0].at, *this, 0);
  fabric_.run_for(options_.duration);
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++) {
    const std::uint64_t segments = fabric_.tcp(i).figures().delivered - tcp_before_[i];
    result_.tcp_share += static_cast<double>(segments) * kTcpPayload * 8e9 /
                         static_cast<double>(options_.duration) /
                         static_cast<double>(options_.fabric.bits_per_second) / options_.tcp_flows;
  }
  fabric_.run_until([this] { return to_come_ == 0 || !result_.failure.empty(); }, options_.patience);
  report(before, data_before);
  result_.cost.cpu_seconds = cpu_seconds() - cpu;
  result_.cost.resident_bytes = resident_bytes();
  alone_measure();
  return std::move(result_);
}

}  // namespace

std::vector<Message> traffic_draw(const TrafficOptions& options, const Tree& tree) {
  Random random(options.fabric.seed);
  const Pairs pairs(tree, options.workload == "hpc");
  const MessageSizes sizes = *message_sizes(options.workload);
  const double bytes_per_ns = static_cast<double>(options.fabric.bits_per_second) / 8e9 * options.load *
                              narrowest(tree, pairs, random) * tree.hosts();
  double mean = 0;  // bytes on the cable
  for (std::size_t i = 0; i < kSamples; i++)
    mean += static_cast<double>(wire_bytes(options.fabric.config.mtu, sizes.draw(random))) / kSamples;
  std::vector<Message> messages;
  for (double at = 0;;) {
    const double part = (static_cast<double>(random.next() >> 11) + 1) * 0x1.0p-53;
    at -= std::log(part) * mean / bytes_per_ns;
    if (at >= static_cast<double>(options.duration)) return messages;
    const auto [from, to] = pairs.draw(random);
    messages.push_back({static_cast<TimeNs>(at), from, to, sizes.draw(random)});
  }
}

TrafficResult traffic_run(const TrafficOptions& options) {
  Traffic run(options);
  return run.run();
}

}  // namespace omx::simulation::fabric
