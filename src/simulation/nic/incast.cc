// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/incast.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/random.h"
#include "simulation/nic/measurement.h"

namespace omx::simulation::nic {

namespace {

using protocol::Completion;
using protocol::Request;
using protocol::RequestKind;
using protocol::Status;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kPosted = 4;

struct Sender {
  std::uint32_t host = 0, hub = 0;  // the process that this host sends to
  std::uint64_t sent = 0;
  std::deque<TimeNs> began;  // start of each message that was not yet received
};

class Incast {
 public:
  explicit Incast(const WorkOptions& options)
      : m_(options), options_(options), out_(options.size, std::byte{0x5a}), random_(options.network.seed) {
    for (std::uint32_t h = 1; h < m_.network.host_count(); h++)
      senders_.push_back({h, m_.network.hub_process(h, 0), 0, {}});
    posted_ = std::min(options.window, kPosted);
    received_.resize(senders_.size() * posted_);
    for (Bytes& buffer : received_) buffer.resize(options.size);
    total_ = std::uint64_t{options.iterations} * senders_.size();
  }

  WorkResult run() {
    if (!m_.ready()) return m_.end(0);
    for (std::uint32_t i = 0; i < m_.network.host(0).process_count(); i++) {
      Process& p = m_.network.process(0, i);
      p.on_progress = [this, i] { reap(i); };
    }
    for (std::uint32_t s = 0; s < senders_.size(); s++) {
      for (std::uint32_t i = 0; i < posted_; i++) post(s, received_[s * posted_ + i]);
      Process& p = m_.network.process(senders_[s].host);
      p.on_progress = [this, s] { sends_ended(s); };
    }
    m_.network.run_for(1'000'000);
    m_.begin();
    for (std::uint32_t s = 0; s < senders_.size(); s++) begin(s);
    const bool ended = m_.network.run_until([this] { return seen_ == total_ || bad_ || !m_.ready(); });
    if (!ended || bad_) return m_.failed("not all messages of the senders arrived intact");
    WorkResult result = m_.end(total_);
    std::sort(latencies_.begin(), latencies_.end());
    double sum = 0;
    for (const double l : latencies_) sum += l;
    result.latency_us = sum / 1e3 / static_cast<double>(latencies_.size());
    result.latency_p50_us = latencies_[latencies_.size() / 2] / 1e3;
    result.latency_p99_us = latencies_[latencies_.size() * 99 / 100] / 1e3;
    return result;
  }

 private:
  // Starts a sender. With a given rate even the first messages come at random times.
  void begin(std::uint32_t s) {
    if (options_.gap_ns > 0) return later(s);
    for (std::uint32_t i = 0; i < options_.window; i++) send(s);
  }

  void later(std::uint32_t s) {
    if (senders_[s].sent >= options_.iterations) return;
    senders_[s].sent++;
    const double even = static_cast<double>(1 + random_.below(1'000'000)) / 1e6;
    const double gap = -std::log(even) * options_.gap_ns * static_cast<double>(senders_.size());
    m_.network.scheduler().after(gap, [this, s] {
      call(s);
      later(s);
    });
  }

  void send(std::uint32_t s) {
    if (senders_[s].sent >= options_.iterations) return;
    senders_[s].sent++;
    call(s);
  }

  void call(std::uint32_t s) {
    Sender& sender = senders_[s];
    sender.began.push_back(m_.network.now());
    Process& p = m_.network.process(sender.host);
    p.call(m_.operation_ns(),
           [this, s, &p] { m_.send(p, m_.network.peer(senders_[s].host, 0, 0, senders_[s].hub), out_, s); });
  }

  void sends_ended(std::uint32_t s) {
    Process& p = m_.network.process(senders_[s].host);
    while (Request* r = p.engine().peek_done()) {
      bad_ = bad_ || p.engine().consume(r).status != Status::success;
      if (options_.gap_ns <= 0) send(s);
    }
  }

  void post(std::uint32_t s, Bytes& buffer) {
    std::fill(buffer.begin(), buffer.end(), std::byte{0});
    m_.receive(m_.network.process(0, senders_[s].hub), buffer, s);
  }

  void reap(std::uint32_t hub) {
    Process& p = m_.network.process(0, hub);
    while (Request* r = p.engine().peek_done()) {
      const Completion c = p.engine().consume(r);
      Bytes& buffer = *static_cast<Bytes*>(c.context);
      const auto s = static_cast<std::uint32_t>(&buffer - received_.data()) / posted_;
      Sender& sender = senders_[s];
      bad_ = bad_ || c.status != Status::success || buffer != out_ || sender.began.empty();
      if (bad_) return;
      latencies_.push_back(static_cast<double>(m_.network.now() - sender.began.front()));
      sender.began.pop_front();
      seen_++;
      p.call(m_.operation_ns(), [this, s, &buffer] { post(s, buffer); });
    }
  }

  Measurement m_;
  const WorkOptions& options_;
  Bytes out_;
  Random random_;
  std::vector<Sender> senders_;
  std::vector<Bytes> received_;
  std::vector<double> latencies_;
  std::uint32_t posted_ = 1;  // receives of each sender
  std::uint64_t total_ = 0, seen_ = 0;
  bool bad_ = false;
};

}  // namespace

WorkResult incast(const WorkOptions& options) {
  if (options.network.hosts < 2 || options.network.peers != Peers::hub) {
    WorkResult refused;
    refused.failure = "incast needs 2 or more hosts at a switch; set --hosts";
    return refused;
  }
  Incast work(options);
  return work.run();
}

}  // namespace omx::simulation::nic
