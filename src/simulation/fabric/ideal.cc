// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/ideal.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simulation/engine/port.h"
#include "wire/packets.h"

namespace omx::simulation::fabric {

namespace {

constexpr std::uint32_t kHeader = 32;  // Ethernet header and that of a reply: the least of all packets
constexpr double kDone = 0.5;          // bytes: less is rounding

double bytes_per_ns(const FabricOptions& options) {
  return static_cast<double>(options.bits_per_second) / 8e9;
}

// A message that is being served.
struct Served {
  std::size_t message = 0;
  double left = 0, rate = 0;                 // bytes, and bytes per ns
  std::array<std::uint32_t, 6> resources{};  // that it uses
  std::uint8_t used = 0;                     // of them

  bool before(const Served& other) const {
    return left != other.left ? left < other.left : message < other.message;
  }
};

class Fluid {
 public:
  Fluid(const FabricOptions& options, const Tree& tree) : tree_(tree), rate_(bytes_per_ns(options)) {
    const double leaf = rate_ * tree.spines(), pod = leaf * tree.leaves_per_pod();
    rates_.assign(std::size_t{2} * tree.hosts(), rate_);
    rates_.insert(rates_.end(), std::size_t{2} * tree.leaves(), leaf);
    rates_.insert(rates_.end(), std::size_t{2} * tree.pods(), pod);
    free_ = rates_;
  }

  void add(std::size_t index, const Message& message, double bytes) {
    Served served{index, bytes};
    const std::uint32_t leaves = 2 * tree_.hosts(), pods = leaves + 2 * tree_.leaves();
    const auto use = [&](std::uint32_t first, std::uint32_t from, std::uint32_t to) {
      served.resources[served.used++] = first + 2 * from;
      served.resources[served.used++] = first + 2 * to + 1;
    };
    use(0, message.from, message.to);
    if (tree_.leaf_of(message.from) != tree_.leaf_of(message.to))
      use(leaves, tree_.leaf_of(message.from), tree_.leaf_of(message.to));
    if (tree_.pod_of(message.from) != tree_.pod_of(message.to))
      use(pods, tree_.pod_of(message.from), tree_.pod_of(message.to));
    served_.push_back(served);
  }
  // Gives each message what those with less left leave it.
  void rates_set() {
    sort();
    for (Served& served : served_) {
      served.rate = rate_;
      for (std::uint8_t i = 0; i < served.used; i++)
        served.rate = std::min(served.rate, free_[served.resources[i]]);
      for (std::uint8_t i = 0; i < served.used; i++) free_[served.resources[i]] -= served.rate;
    }
    for (const Served& served : served_)
      for (std::uint8_t i = 0; i < served.used; i++) free_[served.resources[i]] = rates_[served.resources[i]];
  }
  // Returns the time until the next message is done; infinity if none is served.
  double next_done() const {
    double next = INFINITY;
    for (const Served& served : served_)
      if (served.rate > 0) next = std::min(next, served.left / served.rate);
    return next;
  }
  // Serves for this time. Calls `done` for each message that is done.
  template <typename Done>
  void serve(double time, const Done& done) {
    for (Served& served : served_) {
      served.left -= served.rate * time;
      if (served.left < kDone) done(served.message);
    }
    std::erase_if(served_, [](const Served& served) { return served.left < kDone; });
  }

 private:
  // Sorts by insertion, because the order has hardly changed since the last time.
  void sort() {
    for (std::size_t i = 1; i < served_.size(); i++) {
      const Served moved = served_[i];
      std::size_t at = i;
      for (; at > 0 && moved.before(served_[at - 1]); at--) served_[at] = served_[at - 1];
      served_[at] = moved;
    }
  }

  const Tree& tree_;
  double rate_;
  std::vector<double> rates_, free_;  // of each resource; what is left of it while rates are set
  std::vector<Served> served_;
};

}  // namespace

std::uint64_t wire_bytes(std::uint32_t mtu, std::uint32_t length) {
  const std::uint32_t most = mtu + static_cast<std::uint32_t>(wire::kEthernetHeader) - kHeader;
  const std::uint64_t frames = std::max<std::uint64_t>((length + most - 1) / most, 1);
  const std::uint64_t bytes = length + frames * kHeader;
  return std::max<std::uint64_t>(bytes, wire::kMinFrame) + frames * Port::kCableBytes;
}

TimeNs empty_time(const FabricOptions& options, const Tree& tree, const Message& message) {
  const std::uint8_t ports = tree.path(message.from, message.to, 0).count;
  const double all = static_cast<double>(wire_bytes(options.config.mtu, message.length));
  const double last =
      std::min(all, static_cast<double>(options.config.mtu + wire::kEthernetHeader + Port::kCableBytes));
  const double sending = (all + (ports - 1) * last) / bytes_per_ns(options);
  return static_cast<TimeNs>(sending) + ports * options.delay + (options.poll_least + options.poll_most) / 2;
}

std::vector<TimeNs> ideal_times(const FabricOptions& options, const Tree& tree,
                                const std::vector<Message>& messages) {
  std::vector<TimeNs> times(messages.size());
  Fluid fluid(options, tree);
  double now = 0;
  const auto done = [&](std::size_t index) {
    const Message& m = messages[index];
    const double alone =
        static_cast<double>(wire_bytes(options.config.mtu, m.length)) / bytes_per_ns(options);
    const double took = std::max(now - static_cast<double>(m.at), alone);
    times[index] = static_cast<TimeNs>(took - alone) + empty_time(options, tree, m);
  };
  for (std::size_t next = 0;;) {
    const double arrives = next < messages.size() ? static_cast<double>(messages[next].at) : INFINITY;
    const double ends = now + fluid.next_done();
    if (std::isinf(arrives) && std::isinf(ends)) return times;
    const double step = std::min(arrives, ends) - now;
    now += step;
    fluid.serve(step, done);
    for (; next < messages.size() && static_cast<double>(messages[next].at) <= now; next++)
      fluid.add(next, messages[next],
                static_cast<double>(wire_bytes(options.config.mtu, messages[next].length)));
    fluid.rates_set();
  }
}

}  // namespace omx::simulation::fabric
