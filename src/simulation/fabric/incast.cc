// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/incast.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulation/fabric/statistics.h"

namespace omx::simulation::fabric {

namespace {

using protocol::Completion;
using protocol::kMillisecond;
using protocol::RequestKind;

constexpr TimeNs kLimit = 300'000 * kMillisecond;
constexpr std::uint64_t kPing = 1ULL << 63;
constexpr std::uint32_t kPingBytes = 8;
constexpr unsigned kSenderShift = 40;
constexpr std::uint64_t kDataHeader = 32;  // Ethernet header and that of a reply

class Incast final : public EventTarget {
 public:
  explicit Incast(const IncastOptions& options);
  IncastResult run();
  void on_event(std::uint64_t argument) override;

 private:
  struct Sender {
    std::uint32_t host = 0;
    std::uint64_t begun = 0, come = 0;
    std::uint64_t wire_bytes = 0;  // at the port, within the measured time
    std::vector<TimeNs> sent;      // time of each message
  };
  bool set_up();
  void send_next(std::uint32_t sender);
  void came(const Completion& completion);
  bool more(const Sender& sender) const;
  TcpShare tcp_share(TimeNs time, const std::vector<std::uint64_t>& before);
  std::vector<std::uint64_t> tcp_delivered();
  void counted(const Packet& packet);
  double share(double bytes, TimeNs time) const {
    return time == 0 ? 0 : bytes * 8e9 / static_cast<double>(time) / rate();
  }
  double rate() const { return static_cast<double>(options_.fabric.bits_per_second); }
  void report(const Fabric::Totals& before, std::uint64_t data_before);
  std::uint64_t data_frames_all();

  IncastOptions options_;
  Fabric fabric_;
  std::vector<Sender> senders_;
  std::vector<std::uint32_t> sender_of_;  // by host
  std::uint32_t ping_host_ = 0;
  bool measuring_ = false, pinging_ = false;
  TimeNs started_ = 0, last_ = 0;
  std::uint64_t under_way_ = 0;
  std::vector<TimeNs> times_, pings_;
  TimeNs ping_sent_ = 0;
  IncastResult result_;
};

FabricOptions fabric_options(const IncastOptions& options) {
  FabricOptions fabric = options.fabric;
  const std::uint32_t hosts = 1 + options.senders + options.tcp_flows + (options.ping_every > 0 ? 1 : 0);
  fabric.tree.hosts = std::max(fabric.tree.hosts, hosts);
  fabric.receives = std::max(fabric.receives, 2 * options.senders * options.at_once);
  fabric.message_most = std::max(options.length, kPingBytes);
  return fabric;
}

// The receiver is host 0. The others are spread over the whole tree.
Incast::Incast(const IncastOptions& options)
    : options_(options), fabric_(fabric_options(options)), sender_of_(fabric_.tree().hosts(), UINT32_MAX) {
  const std::uint32_t others = options.senders + options.tcp_flows + (options.ping_every > 0 ? 1 : 0);
  const auto place = [&](std::uint32_t i) {
    return 1 + static_cast<std::uint32_t>(std::uint64_t{i} * (fabric_.tree().hosts() - 1) / others);
  };
  std::uint32_t next = 0;
  for (; next < options.senders; next++) {
    sender_of_[place(next)] = next;
    senders_.emplace_back().host = place(next);
  }
  for (std::uint32_t i = 0; i < options.tcp_flows; i++) fabric_.tcp_add(place(next++), 0, options.tcp_kind);
  if (options.ping_every > 0) ping_host_ = place(next);
  fabric_.on_completion = [this](Host&, const Completion& completion) { came(completion); };
  fabric_.on_arrival = [this](const Packet& packet) { counted(packet); };
}

void Incast::counted(const Packet& packet) {
  if (!measuring_ || packet.to != 0 || packet.is_tcp()) return;
  const std::uint32_t sender = sender_of_[packet.from];
  if (sender < senders_.size()) senders_[sender].wire_bytes += packet.length + Port::kCableBytes;
}

bool Incast::set_up() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Sender& sender : senders_) pairs.emplace_back(sender.host, 0);
  if (ping_host_ > 0) pairs.emplace_back(ping_host_, 0);
  return fabric_.connect(pairs);
}

bool Incast::more(const Sender& sender) const {
  return options_.duration > 0 ? fabric_.now() < started_ + options_.duration
                               : sender.begun < options_.messages;
}

void Incast::send_next(std::uint32_t index) {
  Sender& sender = senders_[index];
  if (!more(sender)) return;
  sender.sent.push_back(fabric_.now());
  under_way_++;
  fabric_.host(sender.host).send(0, options_.length, std::uint64_t{index} << kSenderShift | sender.begun++);
}

void Incast::came(const Completion& completion) {
  if (completion.status != protocol::Status::success) {
    result_.failure = fmt::format("a request ended with status {}", static_cast<int>(completion.status));
    return;
  }
  if (completion.kind != RequestKind::receive) return;
  if (completion.match_info == kPing) {
    pings_.push_back(fabric_.now() - ping_sent_);
    fabric_.schedule(fabric_.now() + options_.ping_every, *this, 0);
    return;
  }
  const auto index = static_cast<std::uint32_t>(completion.match_info >> kSenderShift);
  Sender& sender = senders_[index];
  const std::uint64_t message = completion.match_info & ((1ULL << kSenderShift) - 1);
  if (completion.msg_length != options_.length) result_.failure = "a message came with another length";
  if (sender.sent[message] == 0) result_.failure = "a message came twice";
  times_.push_back(fabric_.now() - std::exchange(sender.sent[message], 0));
  under_way_--;
  sender.come++;
  last_ = fabric_.now();
  if (measuring_) {
    result_.messages++;
    result_.bytes += completion.msg_length;
  }
  send_next(index);
}

void Incast::on_event(std::uint64_t) {
  if (!pinging_) return;
  ping_sent_ = fabric_.now();
  fabric_.host(ping_host_).send(0, kPingBytes, kPing);
}

std::vector<std::uint64_t> Incast::tcp_delivered() {
  std::vector<std::uint64_t> delivered;
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++)
    delivered.push_back(fabric_.tcp(i).figures().delivered);
  return delivered;
}

TcpShare Incast::tcp_share(TimeNs time, const std::vector<std::uint64_t>& before) {
  TcpShare result;
  std::vector<double> each;
  std::vector<std::uint32_t> round_trips;
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++) {
    const TcpFigures& figures = fabric_.tcp(i).figures();
    each.push_back(static_cast<double>((figures.delivered - before[i]) * kTcpPayload));
    result.share += share(each.back(), time);
    round_trips.insert(round_trips.end(), figures.round_trips.begin(), figures.round_trips.end());
    fabric_.tcp(i).round_trips_clear();
  }
  result.jain = jain(each);
  result.rtt_p50 = quantile(round_trips, 0.5);
  result.rtt_p99 = quantile(round_trips, 0.99);
  return result;
}

std::uint64_t Incast::data_frames_all() {
  std::uint64_t all = 0;
  for (const Sender& sender : senders_) all += data_frames(fabric_.host(sender.host).counters());
  return all;
}

void Incast::report(const Fabric::Totals& before, std::uint64_t data_before) {
  IncastResult& r = result_;
  std::vector<double> each;
  double wire = 0, least = 1e300;
  for (const Sender& sender : senders_) {
    each.push_back(static_cast<double>(sender.wire_bytes));
    wire += each.back();
    least = std::min(least, each.back());
  }
  r.share = share(static_cast<double>(r.bytes), r.time);
  r.wire_share = share(wire, r.time);
  r.jain = jain(each);
  r.least = wire > 0 ? least * static_cast<double>(senders_.size()) / wire : 0;
  r.p50 = quantile(times_, 0.5);
  r.p99 = quantile(times_, 0.99);
  r.most = quantile(times_, 1);
  r.ping_p50 = quantile(pings_, 0.5);
  r.ping_p99 = quantile(pings_, 0.99);
  OutputQueue& port = fabric_.port(fabric_.tree().port_to(0));
  const Fabric::Totals now = fabric_.totals();
  r.frames = now.engine_frames - before.engine_frames;
  r.data_frames = data_frames_all() - data_before;
  std::uint64_t all_messages = 0;
  for (const Sender& sender : senders_) all_messages += sender.come;
  r.frames_needed = all_messages * fabric_.host(senders_[0].host).frames_needed(0, options_.length);
  const std::uint64_t wire_bytes =
      all_messages * options_.length + r.frames_needed * (kDataHeader + Port::kCableBytes);
  r.ideal = port.port().time_of(wire_bytes);
  r.dropped = now.engine_dropped - before.engine_dropped;
  r.tcp_dropped = now.tcp_dropped - before.tcp_dropped;
  r.deepest = port.port().counters().deepest;
  const auto limit = static_cast<double>(port.limit());
  r.queue_p50 = static_cast<std::uint64_t>(port.record().quantile(0.5) * limit);
  r.queue_p99 = static_cast<std::uint64_t>(port.record().quantile(0.99) * limit);
  r.marked = port.marked();
  r.digest = fabric_.digest();
  r.events = now.events;
}

IncastResult Incast::run() {
  if (!set_up()) {
    result_.failure = "not all hosts connected";
    return result_;
  }
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++) fabric_.tcp(i).start();
  if (options_.tcp_flows > 0) {
    // The first half of the time is for slow start and what it loses.
    fabric_.run_for(options_.tcp_alone / 2);
    tcp_share(1, tcp_delivered());
    const auto half = tcp_delivered();
    fabric_.run_for(options_.tcp_alone / 2);
    result_.tcp_alone = tcp_share(options_.tcp_alone / 2, half);
  }
  const Fabric::Totals before = fabric_.totals();
  const std::uint64_t data_before = data_frames_all();
  const auto tcp_before = tcp_delivered();
  TcpFigures tcp_then;
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++) {
    const TcpFigures& figures = fabric_.tcp(i).figures();
    tcp_then.sent += figures.sent;
    tcp_then.sent_again += figures.sent_again;
    tcp_then.timeouts += figures.timeouts;
  }
  fabric_.queues_clear();
  started_ = fabric_.now();
  measuring_ = true;
  pinging_ = ping_host_ > 0;
  if (pinging_) on_event(0);
  for (std::uint32_t i = 0; i < options_.senders; i++)
    for (std::uint32_t n = 0; n < options_.at_once; n++) send_next(i);
  const auto ended = [this] { return under_way_ == 0 || !result_.failure.empty(); };
  if (options_.duration > 0)
    fabric_.run_for(options_.duration);
  else if (!fabric_.run_until(ended, kLimit))
    result_.failure = fmt::format("{} messages never came", under_way_);
  measuring_ = pinging_ = false;
  result_.time = (options_.duration > 0 ? fabric_.now() : last_) - started_;
  result_.tcp = tcp_share(fabric_.now() - started_, tcp_before);
  for (std::uint32_t i = 0; i < options_.tcp_flows; i++) {
    TcpFlow& flow = fabric_.tcp(i);
    result_.tcp_sent += flow.figures().sent;
    result_.tcp_sent_again += flow.figures().sent_again;
    result_.tcp_timeouts += flow.figures().timeouts;
    flow.stop();
  }
  result_.tcp_sent -= tcp_then.sent;
  result_.tcp_sent_again -= tcp_then.sent_again;
  result_.tcp_timeouts -= tcp_then.timeouts;
  if (!fabric_.run_until(ended, kLimit)) result_.failure = fmt::format("{} messages never came", under_way_);
  report(before, data_before);
  return result_;
}

}  // namespace

IncastResult incast_run(const IncastOptions& options) {
  Incast run(options);
  return run.run();
}

}  // namespace omx::simulation::fabric
