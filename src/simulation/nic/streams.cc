// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/streams.h"

#include <memory>
#include <vector>

#include "base/random.h"
#include "simulation/nic/measurement.h"

namespace omx::simulation::nic {

namespace {

using protocol::Completion;
using protocol::Request;
using protocol::Status;
using Bytes = std::vector<std::byte>;

// One pair. Its sender keeps a window of messages on their way, and its receiver twice as many receives.
class Pair {
 public:
  Pair(Measurement& m, std::uint32_t index, const WorkOptions& options, const Bytes& data,
       std::uint64_t total)
      : m_(m),
        from_(m.network.process(0, index)),
        to_(m.network.process(1, index)),
        peer_(m.network.peer(0, index, 1, index)),
        out_(data),
        in_(std::size_t{options.window} * 2, Bytes(options.size)),
        total_(total) {}

  void start(std::uint32_t window, const std::function<void()>& received) {
    to_.on_progress = [this, received] { take(received); };
    from_.on_progress = [this] { refill(); };
    to_.call(0, [this] {
      for (Bytes& buffer : in_) post(buffer);
    });
    for (std::uint32_t i = 0; i < window; i++) serve();
  }
  bool good() const { return good_; }

 private:
  void post(Bytes& buffer) {
    if (posted_++ < total_) m_.receive(to_, buffer, 7);
  }
  void serve() {
    if (sent_ >= total_) return;
    sent_++;
    from_.call(m_.operation_ns(), [this] { m_.send(from_, peer_, out_, 7); });
  }
  void refill() {
    while (Request* r = from_.engine().peek_done()) {
      good_ = good_ && from_.engine().consume(r).status == Status::success;
      serve();
    }
  }
  void take(const std::function<void()>& received) {
    while (Request* r = to_.engine().peek_done()) {
      const Completion c = to_.engine().consume(r);
      auto& buffer = *static_cast<Bytes*>(c.context);
      good_ = good_ && c.status == Status::success && buffer == out_;
      std::fill(buffer.begin(), buffer.end(), std::byte{0});
      received();
      post(buffer);
    }
  }

  Measurement& m_;
  Process& from_;
  Process& to_;
  protocol::Peer* peer_;
  Bytes out_;
  std::vector<Bytes> in_;
  const std::uint64_t total_;
  std::uint64_t sent_ = 0, posted_ = 0;
  bool good_ = true;
};

}  // namespace

WorkResult pair_streams(const WorkOptions& options) {
  Measurement m(options);
  if (!m.ready()) return m.end(0);
  Bytes data(options.size);
  random_fill(data, 3);
  const std::uint32_t count = m.network.host(0).process_count();
  const std::uint64_t each = options.iterations + options.iterations / 10 + 1;
  const std::uint64_t total = each * count, warm = total - std::uint64_t{options.iterations} * count;
  std::uint64_t received = 0;
  std::vector<std::unique_ptr<Pair>> pairs;
  for (std::uint32_t i = 0; i < count; i++)
    pairs.push_back(std::make_unique<Pair>(m, i, options, data, each));
  m.network.run_for(100'000);
  for (const auto& pair : pairs)
    pair->start(options.window, [&] {
      if (++received == warm) m.begin();
    });
  const auto good = [&] {
    return std::all_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair->good(); });
  };
  if (!m.network.run_until([&] { return received == total || !good() || !m.ready(); }) || !good())
    return m.failed("streams did not complete");
  return m.end(std::uint64_t{options.iterations} * count);
}

}  // namespace omx::simulation::nic
