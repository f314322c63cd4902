// SPDX-License-Identifier: BSD-3-Clause
// A small network in memory for the engine's tests: virtual time, N endpoints, and a cable that can lose,
// repeat, reorder and damage frames from a seed.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/random.h"
#include "protocol/endpoint.h"

namespace omx::protocol::test {

struct Faults {
  double loss = 0, duplicate = 0, corrupt = 0, reorder = 0;
  bool hold_bulk = false;       // frames by bulk paths wait in Network::held
  bool no_bulk = false;         // no frame passes by bulk paths
  bool cut_gso_frames = false;  // only the first datagram of a GSO frame arrives
  // GSO batches are lost: on bulk paths, and where all frames go by UDP.
  bool no_batches = false;
  std::function<TimeNs(const std::vector<std::byte>&)> late;  // delays this frame by the returned time
  std::uint32_t path_mtu = 0;                                 // larger frames vanish; 0 = no limit
  std::function<bool(const std::vector<std::byte>&)> drop;    // true: drop this frame
  std::function<bool(const std::vector<std::byte>&)> mark;    // true: a queue marks this frame (ECN)
};

class Network;

class Host : public wire::FrameSink {
 public:
  Host(Network& network, const Config& config);

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    iov_.resize(max_segments + 1);
    frame_.segments = iov_.data();
    frame_.segment_count = frame_.header_length = 0;
    frame_.alone = false;
    frame_.cut = 0;
    by_bulk_ = false;
    return frame_;
  }
  wire::TxFrame& bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) override {
    frame_begin(max_segments);
    by_bulk_ = true;
    bulk_to = to;
    return frame_;
  }
  void frame_commit() override;
  void flush() override {
    flushes++;
    batch_leave();
    for (Late& frame : late_) send(std::move(frame.header), frame.segments, frame.by_bulk, frame.cut);
    late_.clear();
  }

  // Returns the board to which the frame came, or kRailsMost.
  std::size_t board_of(const std::vector<std::byte>& frame) const {
    const Config& config = endpoint->config();
    const NicId to = mac_load(frame.data());
    return to == config.nic ? 0 : config.rails.place(to);
  }
  void hear(TimeNs now, const std::vector<std::byte>& frame);
  void marks_forgo() override { marks_forgone = true; }

  Endpoint& operator*() { return *endpoint; }
  Endpoint* operator->() { return endpoint.get(); }

  Counters counters;
  std::unique_ptr<Endpoint> endpoint;
  bool paused = false;  // its application does not call the library, so frames wait in its ring
  std::deque<std::vector<std::byte>> ring;
  wire::BulkAddress bulk_to;      // of the last frame that went by a bulk path
  std::uint32_t bulk_frames = 0;  // frames that went by a bulk path
  std::uint32_t gso_frames = 0;   // ... and that the kernel cuts into datagrams
  std::uint32_t flushes = 0;      // by the engine
  bool marks_forgone = false;     // queues may not mark what it sends
  bool coalesces_late = false;    // payload is read at flush(), as links do

  std::uint64_t batches = 0;  // frames that were to leave in one GSO batch with others
  void batch_leave();         // sends the queued frames

 private:
  struct Late {
    std::vector<std::byte> header;
    std::vector<iovec> segments;
    bool by_bulk;
    std::uint32_t cut;
  };
  void send(std::vector<std::byte> bytes, std::span<const iovec> segments, bool by_bulk, std::uint32_t cut);

  std::vector<Late> late_;
  std::vector<std::vector<std::byte>> batch_;
  Network& network_;
  wire::TxFrame frame_;
  std::vector<iovec> iov_;
  bool by_bulk_ = false;
};

class Network {
 public:
  explicit Network(std::uint64_t seed = 1) : random(seed) {}

  static NicId nic_of(std::size_t host, std::size_t board = 0) {
    return 0x020000000000 + (board << 24) + host + 1;
  }
  Host& add(Config config, unsigned boards = 1) {
    config.nic = nic_of(hosts.size());
    for (unsigned i = 0; boards > 1 && i < boards; i++) config.rails.nics[i] = nic_of(hosts.size(), i);
    config.rails.count = static_cast<std::uint8_t>(boards > 1 ? boards : 0);
    if (config.session == 0) config.session = 0x1000 + static_cast<std::uint32_t>(hosts.size());
    hosts.push_back(std::make_unique<Host>(*this, config));
    return *hosts.back();
  }
  // Ends the endpoint without a message to its peers. A new one takes its place.
  Host& restart(std::size_t index, Config config) {
    config.nic = nic_of(index);
    hosts[index] = std::make_unique<Host>(*this, config);
    return *hosts[index];
  }
  // Makes another network, in which no frame of the old one is under way.
  void clear() {
    hosts.clear();
    wire_.clear();
  }
  void kill(std::size_t index) { hosts[index].reset(); }
  // Delivers a frame of no particular sender, past all faults.
  void inject(std::vector<std::byte> bytes) {
    if (bytes.size() < wire::kMinFrame) bytes.resize(wire::kMinFrame);
    wire_.emplace(now + 5'000, std::move(bytes));
  }

  void carry(std::vector<std::byte> bytes) {
    frames_sent++;
    if (faults.drop && faults.drop(bytes)) return;
    if (faults.path_mtu && bytes.size() > faults.path_mtu + 14) return;
    if (random.chance(faults.loss)) return;
    const int copies = random.chance(faults.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; i++) {
      auto copy = bytes;
      if (random.chance(faults.corrupt)) {
        const auto position = random.below(copy.size());
        copy[position] ^= static_cast<std::byte>(1U << random.below(8));
      }
      TimeNs delay = 5'000;
      if (faults.late) delay += faults.late(copy);
      if (random.chance(faults.reorder)) delay += random.below(200'000);
      wire_.emplace(now + delay, std::move(copy));
    }
  }

  // Runs one event, a frame or a deadline. Returns false when none is left before `end`.
  bool step(TimeNs end = kNever) {
    for (auto& h : hosts)
      if (h) h->batch_leave();
    TimeNs next = wire_.empty() ? kNever : wire_.begin()->first;
    for (auto& h : hosts) {
      if (!h || h->paused) continue;
      next = std::min(next, h->ring.empty() ? (*h)->next_deadline() : now);
    }
    if (next == kNever || next > end) return false;
    now = std::max(now, next);
    for (auto& h : hosts) {
      for (; h && !h->paused && !h->ring.empty(); h->ring.pop_front()) h->hear(now, h->ring.front());
    }
    while (!wire_.empty() && wire_.begin()->first <= now) {
      const auto bytes = std::move(wire_.begin()->second);
      wire_.erase(wire_.begin());
      deliver(bytes);
    }
    for (auto& h : hosts)
      if (h && !h->paused && (*h)->next_deadline() <= now) (*h)->progress(now);
    return true;
  }

  // Runs until the condition holds. Returns false if virtual `limit` passed or no event is left.
  bool run_until(const std::function<bool()>& condition, TimeNs limit = 600'000 * kMillisecond) {
    const TimeNs end = now + limit;
    while (!condition())
      if (!step(end)) return condition();
    return true;
  }
  void run_for(TimeNs time) {
    const TimeNs end = now + time;
    while (step(end)) {
    }
    now = end;
  }

  std::vector<std::vector<std::byte>> held;
  Random random;
  TimeNs now = kMillisecond;
  Faults faults;
  std::vector<std::unique_ptr<Host>> hosts;
  std::uint64_t frames_sent = 0;
  std::size_t gso_frame_most = 0;      // of those that were sent
  std::uint32_t intra_node_frame = 0;  // larger frames than the MTU arrive, as on the intra-node path

 private:
  void deliver(const std::vector<std::byte>& bytes) {
    for (auto& h : hosts) {
      if (!h || h->board_of(bytes) == wire::kRailsMost) continue;
      if (bytes.size() > std::max<std::size_t>({(*h)->config().mtu + 14, intra_node_frame, gso_frame_most}))
        return;
      if (h->paused || !h->ring.empty()) {
        h->ring.push_back(bytes);
        return;
      }
      const bool idle = (*h)->next_deadline() != now;
      h->hear(now, bytes);
      if (idle) (*h)->progress(now);
    }
  }

  std::multimap<TimeNs, std::vector<std::byte>> wire_;
};

inline Host::Host(Network& network, const Config& config) : network_(network) {
  endpoint = std::make_unique<Endpoint>(config, *this, counters);
}

inline void Host::hear(TimeNs now, const std::vector<std::byte>& frame) {
  const std::size_t board = board_of(frame);
  endpoint->frames_marked(network_.faults.mark && network_.faults.mark(frame));
  if (board == 0)
    endpoint->on_frame(now, frame);
  else
    endpoint->on_frame_by(now, static_cast<unsigned>(board), frame);
}

inline void Host::batch_leave() {
  const bool passes = batch_.size() == 1 || !network_.faults.no_batches;
  for (auto& frame : batch_)
    if (passes) network_.carry(std::move(frame));
  batch_.clear();
}

inline void Host::frame_commit() {
  std::vector<std::byte> header(frame_.header, frame_.header + frame_.header_length);
  const std::span<const iovec> segments(frame_.segments, frame_.segment_count);
  if (coalesces_late)
    late_.push_back({std::move(header), {segments.begin(), segments.end()}, by_bulk_, frame_.cut});
  else
    send(std::move(header), segments, by_bulk_, frame_.cut);
}

inline void Host::send(std::vector<std::byte> bytes, std::span<const iovec> segments, bool by_bulk,
                       std::uint32_t cut) {
  for (const iovec& segment : segments) {
    const auto* p = static_cast<const std::byte*>(segment.iov_base);
    bytes.insert(bytes.end(), p, p + segment.iov_len);
  }
  if (bytes.size() < wire::kMinFrame) bytes.resize(wire::kMinFrame);
  if (cut > 0 && bytes.size() > cut) {
    gso_frames++;
    if (network_.faults.cut_gso_frames) bytes.resize(cut);
    network_.gso_frame_most = std::max(network_.gso_frame_most, bytes.size());
  }
  bulk_frames += by_bulk;
  if (by_bulk && network_.faults.hold_bulk) {
    network_.held.push_back(std::move(bytes));
    return;
  }
  if (by_bulk && network_.faults.no_bulk) return;
  // Frames of one size, with no other frame between, form a GSO batch.
  if (!endpoint->config().bulk.at_nic && !(by_bulk && network_.faults.no_batches))
    return network_.carry(std::move(bytes));
  const bool joins = !frame_.alone && !batch_.empty() && bytes.size() <= batch_.front().size();
  if (joins) batches++;
  if (!joins) batch_leave();
  batch_.push_back(std::move(bytes));
  if (frame_.alone) batch_leave();
}

// Connects a to b and returns b as a's peer.
inline Peer* connect(Network& n, Host& a, Host& b, std::uint32_t key = 0) {
  auto request = a->connect(n.now, b->config().nic, b->config().endpoint, key, 0, nullptr, false);
  if (!request) return nullptr;
  if (!n.run_until([&] { return a->done(*request); })) return nullptr;
  const Completion c = a->consume(*request);
  return c.status == Status::success ? c.peer : nullptr;
}

inline std::vector<std::byte> pattern(std::uint64_t seed, std::size_t length) {
  std::vector<std::byte> data(length);
  random_fill(data, seed);
  return data;
}

inline Segment segment(std::vector<std::byte>& data) {
  return {data.data(), static_cast<std::uint32_t>(data.size())};
}

}  // namespace omx::protocol::test
