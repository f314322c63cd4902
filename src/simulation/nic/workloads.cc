// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/workloads.h"

#include <algorithm>

#include "base/random.h"
#include "simulation/nic/measurement.h"
#include "wire/layout.h"

namespace omx::simulation::nic {

namespace {

using protocol::Completion;
using protocol::Request;
using protocol::RequestKind;
using protocol::Status;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kMediumHeader = 48;
constexpr std::uint32_t kWarm = 3;  // round trips that are not measured

Bytes pattern(std::uint32_t size, std::uint64_t seed) {
  Bytes bytes(size);
  random_fill(bytes, seed);
  return bytes;
}

// Counts the completions of a process by kind. reap() returns false if one failed.
struct Completed {
  std::uint64_t sends = 0, receives = 0;
};
bool reap(Process& process, Completed& seen) {
  bool good = true;
  while (Request* r = process.engine().peek_done()) {
    const Completion c = process.engine().consume(r);
    good = good && c.status == Status::success;
    (c.kind == RequestKind::send ? seen.sends : seen.receives)++;
  }
  return good;
}

// Changes marks as the coalescing paper did. Either frames of one type have no mark, or an earlier fragment
// of a medium message has it instead of the last one.
class Marks {
 public:
  Marks(Network& network, const WorkOptions& options) : size_(options.size), moved_(options.mark_moved) {
    if (options.unmarked) {
      network.on_transmit = [type = *options.unmarked](std::uint32_t, SimFrame& frame) {
        if (frame.type() == type) flags_of(frame) &= ~std::byte{wire::kFlagUrgent};
      };
    } else if (moved_ > 0) {
      network.on_transmit = [this](std::uint32_t from, SimFrame& frame) { move(from, frame); };
    }
  }

 private:
  static std::byte& flags_of(SimFrame& frame) {
    const bool reply = frame.type() == wire::PacketType::pull_reply;
    return frame.bytes[reply ? wire::layout::kPullReplyFlags : wire::layout::kFlags];
  }
  void move(std::uint32_t from, SimFrame& frame) {
    if (frame.type() != wire::PacketType::medium) return;
    unit_ = std::max(unit_, static_cast<std::uint32_t>(frame.bytes.size() - kMediumHeader));
    const std::uint32_t fragments = (size_ + unit_ - 1) / unit_;
    if (++seen_[from] == fragments - moved_) flags_of(frame) |= std::byte{wire::kFlagUrgent};
    if (seen_[from] < fragments) return;
    flags_of(frame) &= ~std::byte{wire::kFlagUrgent};
    seen_[from] = 0;
  }
  std::uint32_t size_, moved_, unit_ = 1, seen_[2] = {};
};

}  // namespace

WorkResult pingpong(const WorkOptions& options) {
  Measurement m(options);
  if (!m.ready()) return m.end(0);
  const Marks marks(m.network, options);
  const std::uint32_t total = options.iterations + kWarm;
  Bytes out = pattern(options.size, 1);
  Bytes in[2] = {Bytes(options.size), Bytes(options.size)};
  Completed seen[2];
  bool good = true;
  const auto post = [&](std::uint32_t h) { m.receive(m.network.process(h), in[h], 7); };
  const auto serve = [&](std::uint32_t h) {
    m.send(m.network.process(h), m.network.peer(h, 0, 1 - h, 0), out, 7);
  };
  for (std::uint32_t h = 0; h < 2; h++) {
    Process& p = m.network.process(h);
    p.call(0, [&post, h] { post(h); });
    p.on_progress = [&, h] {
      Process& me = m.network.process(h);
      const std::uint64_t before = seen[h].receives;
      good = good && reap(me, seen[h]);
      if (seen[h].receives == before) return;
      good = good && in[h] == out;
      std::fill(in[h].begin(), in[h].end(), std::byte{0});
      if (h == 0 && seen[0].receives == kWarm) m.begin();
      if (h == 0 && seen[0].receives == total) return;
      me.call(m.operation_ns(), [&post, &serve, h] {
        post(h);
        serve(h);
      });
    };
  }
  m.network.run_for(100'000);
  m.network.process(0).call(m.operation_ns(), [&serve] { serve(0); });
  if (!m.network.run_until([&] { return seen[0].receives == total || !good || !m.ready(); }) || !good)
    return m.failed("a ping-pong did not complete");
  return m.end(std::uint64_t{options.iterations} * 2);
}

WorkResult stream(const WorkOptions& options) {
  Measurement m(options);
  if (!m.ready()) return m.end(0);
  const Marks marks(m.network, options);
  const std::uint32_t warm = options.iterations / 10 + 1, total = options.iterations + warm;
  Bytes out = pattern(options.size, 2);
  std::vector<Bytes> in(options.window * 2, Bytes(options.size));
  Process &from = m.network.process(0), &to = m.network.process(1);
  std::uint64_t sent = 0, posted = 0, received = 0;
  Completed seen;
  bool good = true;
  const auto post = [&](Bytes& buffer) {
    if (posted++ < total) m.receive(to, buffer, 7);
  };
  const auto serve = [&] {
    if (sent >= total) return;
    sent++;
    from.call(m.operation_ns(),
              [&] { m.send(from, m.network.peer(0, 0, 1, 0), out, 7, options.synchronous); });
  };
  to.call(0, [&] {
    for (Bytes& buffer : in) post(buffer);
  });
  to.on_progress = [&] {
    while (Request* r = to.engine().peek_done()) {
      const Completion c = to.engine().consume(r);
      auto& buffer = *static_cast<Bytes*>(c.context);
      good = good && c.status == Status::success && buffer == out;
      std::fill(buffer.begin(), buffer.end(), std::byte{0});
      if (++received == warm) m.begin();
      post(buffer);
    }
  };
  from.on_progress = [&] {
    const std::uint64_t before = seen.sends;
    good = good && reap(from, seen);
    for (std::uint64_t i = before; i < seen.sends; i++) serve();
  };
  m.network.run_for(100'000);
  for (std::uint32_t i = 0; i < options.window; i++) serve();
  if (!m.network.run_until([&] { return received == total || !good || !m.ready(); }) || !good)
    return m.failed("a stream did not complete");
  return m.end(options.iterations);
}

WorkResult invalid(const WorkOptions& options) {
  Measurement m(options);
  if (!m.ready()) return m.end(0);
  Process& from = m.network.process(0);
  const std::uint64_t before = m.network.host(1).nic().counters().frames;
  m.begin();
  const double ns = options.network.parameters.transmit_ns;
  for (std::uint32_t i = 0; i < options.iterations; i++)
    from.call(ns, [&] { m.network.send_invalid(0, options.size + wire::layout::kFlags + 29); });
  const auto all = [&] {
    const NicCounters& c = m.network.host(1).nic().counters();
    return c.frames + c.dropped - before >= options.iterations;
  };
  if (!m.network.run_until(all)) return m.failed("not all frames arrived");
  // The handler may be late by the work for all frames.
  m.network.run_for(1'000'000 + options.iterations * 10'000ULL);
  return m.end(options.iterations);
}

}  // namespace omx::simulation::nic
