// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/mixed.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "protocol/observer.h"
#include "protocol/state.h"
#include "simulation/matching_model.h"
#include "simulation/mixed_network.h"
#include "simulation/world.h"

namespace omx::simulation {

namespace {

using protocol::Completion;
using protocol::kMillisecond;
using protocol::Request;
using protocol::RequestKind;
using protocol::Segment;
using protocol::Status;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kKey = 0x6b6579;
constexpr std::uint64_t kTagMask = 0xFF;  // of match information; above it is the message's id
constexpr unsigned kIdShift = 8;
constexpr TimeNs kSecond = 1000 * kMillisecond;
// Reference peers repeat twice a second, and a wide hole takes them many rounds.
constexpr TimeNs kPatience = 4000 * kSecond;

struct Operation {
  RequestKind kind = RequestKind::send;
  std::uint64_t id = 0;
  std::uint32_t host = 0;
  std::uint32_t to = 0;  // send, connect
  Request* request = nullptr;
  Bytes data;
  std::vector<Segment> segments;
  std::uint64_t info = 0, mask = 0;
  bool bad_key = false;
  bool ended = false;
  bool delivered = false;      // send
  bool truncated = false;      // send: its receive was too small
  std::uint64_t expected = 0;  // receive: id of the message that the model gave it
  bool waiting = false;        // receive: still in the model
};

class Mixed;

// A host's engine reports to it.
class HostModel final : public protocol::Observer {
 public:
  HostModel(Mixed& run, std::uint32_t host) : run_(run), host_(host) {}
  void on_arrival(const protocol::Partner& from, std::uint64_t match_info, const Request* receive) override;

  MatchingModel matching;
  std::unordered_map<const Request*, std::uint64_t> posted;  // receives in the model, by request
  std::vector<protocol::Partner*> partners;                  // by host; nullptr: not connected to yet

 private:
  Mixed& run_;
  std::uint32_t host_;
};

class Mixed {
 public:
  explicit Mixed(const MixedOptions& options);
  MixedResult run();
  void fail(const std::string& text) {
    if (failure_.empty()) failure_ = text;
    if (trace_) trace_->line(world_.now(), "FAILURE: " + text);
  }
  void arrived(std::uint32_t host, const protocol::Partner& from, std::uint64_t info, const Request* receive);

 private:
  std::size_t choose_length();
  void connect_all();
  void step();
  void connect(std::uint32_t host, std::uint32_t to, bool bad_key);
  void send(std::uint32_t host, std::uint32_t to);
  void receive(std::uint32_t host, bool anything);
  void cancel();
  void pause();
  void split(Operation& operation, std::size_t length);
  void reap(SimHost& host);
  void ended(std::uint32_t host, const Completion& completion);
  void receive_ended(Operation& r, const Completion& completion);
  void settle();
  void leftovers();
  protocol::Endpoint& engine(std::uint32_t host) { return world_.host(host).engine(); }
  TimeNs clock(std::uint32_t host) { return world_.host(host).clock(); }

  MixedOptions options_;
  MixedNetwork network_;
  Random random_;
  std::optional<Trace> trace_;
  World world_;
  std::vector<std::unique_ptr<HostModel>> models_;
  std::deque<std::unique_ptr<Operation>> operations_;  // by id - 1
  std::string failure_;
  std::size_t largest_;  // message; and the size of receives for anything
  std::uint64_t messages_ = 0, bytes_ = 0;
  std::vector<std::uint64_t> undelivered_;  // by destination
};

void HostModel::on_arrival(const protocol::Partner& from, std::uint64_t match_info, const Request* receive) {
  run_.arrived(host_, from, match_info, receive);
}

Mixed::Mixed(const MixedOptions& options)
    : options_(options),
      network_(mixed_network(options.seed, kKey)),
      random_(options.seed),
      world_(network_.world) {
  if (options.trace) {
    trace_.emplace(options.trace);
    world_.trace_to(&*trace_);
  }
  world_.on_activity([this](SimHost& host) { reap(host); });
  world_.faults().plan = network_.faults;
  // Enough for 8-bit frame numbers to come round twice at MTU 1500; not in every run, as it takes time.
  largest_ = random_.chance(0.15) ? 800'000 : 120'000;
  for (HostOptions host : network_.hosts) {
    models_.push_back(std::make_unique<HostModel>(*this, world_.host_count()));
    models_.back()->partners.resize(network_.hosts.size());
    host.config.observer = models_.back().get();
    world_.add(host);
  }
  undelivered_.resize(network_.hosts.size());
}

std::size_t Mixed::choose_length() {
  static constexpr std::size_t kEdges[] = {
      0,    1,    31,   32,   33,   127,  128,  129,   1000,  1001,  1400,  1452,  1453,  4095,  4096,
      4097, 8191, 8192, 8193, 8968, 9000, 9001, 16384, 32767, 32768, 32769, 65535, 65536, 65537, 100000};
  if (random_.chance(0.5)) return kEdges[random_.below(std::size(kEdges))];
  if (random_.chance(0.7)) return random_.below(2000);
  return random_.below(random_.chance(0.1) ? largest_ : 60'000);
}

// Up to five pieces, some of them empty.
void Mixed::split(Operation& operation, std::size_t length) {
  std::size_t at = 0;
  const std::size_t pieces = random_.chance(0.7) ? 1 : 2 + random_.below(4);
  for (std::size_t i = 1; i < pieces; i++) {
    const std::size_t piece = random_.below(length - at + 1);
    operation.segments.push_back({operation.data.data() + at, static_cast<std::uint32_t>(piece)});
    at += piece;
  }
  operation.segments.push_back({operation.data.data() + at, static_cast<std::uint32_t>(length - at)});
}

void Mixed::connect(std::uint32_t host, std::uint32_t to, bool bad_key) {
  auto& c = *operations_.emplace_back(std::make_unique<Operation>());
  c.kind = RequestKind::connect;
  c.id = operations_.size();
  c.host = host;
  c.to = to;
  c.bad_key = bad_key;
  const auto r =
      engine(host).connect(clock(host), World::nic_of(to), 0, bad_key ? kKey + 1 : kKey, 0, &c, false);
  if (!r) return fail("a connect was refused");
  c.request = *r;
}

void Mixed::send(std::uint32_t host, std::uint32_t to) {
  protocol::Partner* partner = host == to ? engine(host).self() : models_[host]->partners[to];
  if (!partner) return;
  auto& m = *operations_.emplace_back(std::make_unique<Operation>());
  m.id = operations_.size();
  m.host = host;
  m.to = to;
  m.data.resize(choose_length());
  random_fill(m.data, m.id);
  split(m, m.data.size());
  m.info = m.id << kIdShift | random_.below(4);
  protocol::SendOp op;
  op.partner = partner;
  op.segments = m.segments;
  op.match_info = m.info;
  op.context = &m;
  op.synchronous = random_.chance(0.1);
  op.forgotten = random_.chance(0.1);
  messages_++;
  bytes_ += m.data.size();
  undelivered_[to]++;
  m.ended = op.forgotten;
  const auto r = engine(host).send(clock(host), op);
  if (!r) return fail("a send was refused");
  m.request = *r;
}

void Mixed::receive(std::uint32_t host, bool anything) {
  auto& r = *operations_.emplace_back(std::make_unique<Operation>());
  r.kind = RequestKind::receive;
  r.id = operations_.size();
  r.host = host;
  r.data.assign(anything || random_.chance(0.8) ? largest_ : random_.below(3000), std::byte{0xEE});
  split(r, r.data.size());
  const protocol::Partner* source = nullptr;
  if (!anything && random_.chance(0.7)) {
    r.mask = random_.chance(0.8) ? kTagMask : 1;
    r.info = random_.below(4) & r.mask;
    if (random_.chance(0.2)) source = models_[host]->partners[random_.below(world_.host_count())];
  }
  protocol::ReceiveOp op;
  op.segments = r.segments;
  op.match_info = r.info;
  op.match_mask = r.mask;
  op.source = source;
  op.context = &r;
  HostModel& model = *models_[host];
  const auto taken = model.matching.post({r.id, r.info, r.mask, source});
  if (taken) {
    r.expected = *taken;
  } else {
    r.waiting = true;
  }
  const auto request = engine(host).receive(clock(host), op);
  if (!request) return fail("a receive was refused");
  r.request = *request;
  if (!taken) model.posted[r.request] = r.id;
}

void Mixed::arrived(std::uint32_t host, const protocol::Partner& from, std::uint64_t info,
                    const Request* receive) {
  HostModel& model = *models_[host];
  const std::uint64_t message = info >> kIdShift;
  const auto expected = model.matching.arrive({message, info, &from});
  const auto posted = model.posted.find(receive);
  const std::uint64_t got = posted == model.posted.end() ? 0 : posted->second;
  if (expected.value_or(0) != got || (receive && got == 0)) {
    return fail(fmt::format("message {} went to receive {} of host {}, MX says {} (0: none)", message, got,
                            host, expected.value_or(0)));
  }
  if (!receive) return;
  Operation& r = *operations_[got - 1];
  r.expected = message;
  r.waiting = false;
  model.posted.erase(posted);
}

void Mixed::receive_ended(Operation& r, const Completion& c) {
  if (c.status == Status::cancelled) return;
  const std::uint64_t id = c.match_info >> kIdShift;
  if (id == 0 || id > operations_.size() || id != r.expected)
    return fail(fmt::format("receive {} ended with message {}, MX says {}", r.id, id, r.expected));
  Operation& m = *operations_[id - 1];
  if (m.delivered) return fail(fmt::format("message {} was delivered twice", id));
  m.delivered = true;
  undelivered_[m.to]--;
  const std::size_t fits = std::min(m.data.size(), r.data.size());
  const Status wanted = fits < m.data.size() ? Status::truncated : Status::success;
  m.truncated = wanted == Status::truncated;
  if (c.status != wanted || c.msg_length != m.data.size() || c.xfer_length != fits) {
    return fail(fmt::format("message {} of {} bytes into {}: status {}, {} of {} bytes", id, m.data.size(),
                            r.data.size(), static_cast<int>(c.status), c.xfer_length, c.msg_length));
  }
  if (m.to != r.host || protocol::partner_info(c.partner).nic != World::nic_of(m.host))
    return fail(fmt::format("message {} came from the wrong host", id));
  const auto end = m.data.begin() + static_cast<std::ptrdiff_t>(fits);
  if (const auto wrong = std::mismatch(m.data.begin(), end, r.data.begin()).first; wrong != end)
    return fail(fmt::format("message {} arrived damaged at byte {}", id, wrong - m.data.begin()));
  const auto untouched = [](std::byte b) { return b == std::byte{0xEE}; };
  if (!std::all_of(r.data.begin() + static_cast<std::ptrdiff_t>(fits), r.data.end(), untouched))
    return fail(fmt::format("message {} was written beyond its length", id));
  if (!options_.trace) r.data = {};
}

void Mixed::ended(std::uint32_t host, const Completion& c) {
  Operation& o = *static_cast<Operation*>(c.context);
  if (o.ended) return fail(fmt::format("operation {} ended twice", o.id));
  o.ended = true;
  o.request = nullptr;
  if (o.host != host || o.kind != c.kind) return fail(fmt::format("operation {} ended as another", o.id));
  switch (c.kind) {
    case RequestKind::receive:
      return receive_ended(o, c);
    case RequestKind::connect:
      if (c.status != (o.bad_key ? Status::bad_key : Status::success))
        return fail(fmt::format("connect {} ended with status {}", o.id, static_cast<int>(c.status)));
      if (!o.bad_key) models_[host]->partners[o.to] = c.partner;
      return;
    case RequestKind::send:
      if (c.status != Status::success && !(c.status == Status::truncated && o.truncated))
        return fail(fmt::format("send {} ended with status {}", o.id, static_cast<int>(c.status)));
      return;
  }
}

void Mixed::reap(SimHost& host) {
  while (Request* r = host.engine().peek_done()) ended(host.index(), host.engine().consume(r));
}

void Mixed::cancel() {
  Operation& o = *operations_[random_.below(operations_.size())];
  if (o.kind != RequestKind::receive || o.ended || !o.request) return;
  const bool complete = random_.chance(0.5);
  const Request* request = o.request;
  const auto cancelled = engine(o.host).cancel(o.request, complete);
  if (!cancelled || *cancelled != o.waiting)
    return fail(fmt::format("cancel of receive {} says {}", o.id, cancelled ? int{*cancelled} : -1));
  if (!*cancelled) return;
  models_[o.host]->matching.cancel(o.id);
  models_[o.host]->posted.erase(request);
  o.waiting = false;
  if (!complete) o.ended = true;
}

void Mixed::pause() {
  SimHost& host = world_.host(static_cast<std::uint32_t>(random_.below(world_.host_count())));
  host.paused() ? host.resume() : host.pause();
}

void Mixed::step() {
  const auto host = static_cast<std::uint32_t>(random_.below(world_.host_count()));
  const auto other = static_cast<std::uint32_t>(random_.below(world_.host_count()));
  const std::uint64_t what = random_.below(100);
  if (what < 48) {
    send(host, random_.chance(0.05) ? host : other);
  } else if (what < 90) {
    receive(host, random_.chance(0.1));
  } else if (what < 94) {
    if (!operations_.empty()) cancel();
  } else if (what < 96) {
    pause();
  } else if (what < 98 && host != other) {
    connect(host, other, random_.chance(0.3));
  } else if (what == 99) {
    world_.run_for(random_.below(30) * kMillisecond);
  }
  for (std::uint32_t i = 0; i < world_.host_count(); i++) {
    reap(world_.host(i));
    world_.host(i).deadline_check();
  }
  if (random_.chance(0.3)) world_.run_for(random_.below(100'000));
}

void Mixed::connect_all() {
  for (std::uint32_t i = 0; i < world_.host_count(); i++)
    for (std::uint32_t j = 0; j < world_.host_count(); j++)
      if (i != j) connect(i, j, false);
  for (std::uint32_t i = 0; i < world_.host_count(); i++) world_.host(i).deadline_check();
  // Some connections may still be under way when the first messages go.
  world_.run_for(random_.below(2000) * 1000);
}

// Everything that was sent is asked for; then nothing may be missing.
void Mixed::settle() {
  for (std::uint32_t i = 0; i < world_.host_count(); i++) {
    world_.host(i).resume();
  }
  const auto all_ended = [this] {
    if (!failure_.empty()) return true;
    for (std::uint64_t n : undelivered_)
      if (n > 0) return false;
    return std::all_of(operations_.begin(), operations_.end(),
                       [](const auto& o) { return o->ended || o->kind == RequestKind::receive; });
  };
  // A round of wildcard receives at a time, as a receive that waits may take what another was posted for.
  for (TimeNs patience = kPatience; patience > 0 && !all_ended(); patience -= std::min(patience, kSecond)) {
    for (std::uint32_t i = 0; i < world_.host_count(); i++) {
      for (std::uint64_t n = models_[i]->matching.messages(); n > 0; n--) receive(i, true);
      // Small memory refuses what no receive waits for.
      for (std::uint64_t n = std::min<std::uint64_t>(undelivered_[i], 4); n > 0; n--) receive(i, true);
      reap(world_.host(i));
      world_.host(i).deadline_check();
    }
    world_.run_until(all_ended, kSecond);
  }
  if (!failure_.empty()) return;
  for (std::uint32_t i = 0; i < world_.host_count(); i++) {
    if (undelivered_[i] > 0)
      fail(fmt::format("{} messages to host {} were never delivered", undelivered_[i], i));
  }
  for (const auto& o : operations_) {
    if (!o->ended && o->kind != RequestKind::receive)
      fail(fmt::format("{} {} of host {} never ended", o->kind == RequestKind::send ? "send" : "connect",
                       o->id, o->host));
  }
  for (const auto& o : operations_) {
    if (o->ended || o->kind != RequestKind::receive) continue;
    const auto cancelled = engine(o->host).cancel(o->request);
    if (!cancelled || !*cancelled) fail(fmt::format("receive {} was matched and never ended", o->id));
  }
}

// What an engine must not hold any more.
void Mixed::leftovers() {
  world_.run_for(600 * kSecond);  // a lost MTU probe is repeated twice a minute
  for (std::uint32_t i = 0; i < world_.host_count() && failure_.empty(); i++) {
    const protocol::State& s = engine(i).state();
    const auto none = [&](const char* what, std::uint64_t n) {
      if (n > 0) fail(fmt::format("host {} still has {} {}", i, n, what));
    };
    none("requests", s.requests.live());
    none("unexpected messages", s.unexpected_slab.live());
    none("pulls", s.pulls.live());
    none("early windows", s.early_windows.live());
    none("bytes of buffers", s.buffers.in_use());
    none("bytes of send buffers", s.send_buffers.in_use());
    none("regions", s.regions_used);
    none("sends without acknowledgement", s.zombies);
    // A path that is shorter than the MTU is probed again from time to time.
    if (engine(i).next_deadline() != protocol::kNever && network_.world.path_mtu == 0)
      fail(fmt::format("host {} still has a timer", i));
  }
  if (world_.frames().live() > 0) fail("frames are still under way");
}

MixedResult Mixed::run() {
  connect_all();
  for (std::uint32_t i = 0; i < options_.operations && failure_.empty(); i++) step();
  if (failure_.empty()) settle();
  if (failure_.empty()) leftovers();
  MixedResult result;
  result.failure = failure_;
  result.digest = world_.digest();
  result.messages = messages_;
  result.bytes = bytes_;
  result.frames = world_.totals().frames;
  result.lost = world_.totals().lost + world_.totals().dropped;
  result.time = world_.now();
  return result;
}

}  // namespace

MixedResult mixed_run(const MixedOptions& options) {
  Mixed run(options);
  return run.run();
}

}  // namespace omx::simulation
