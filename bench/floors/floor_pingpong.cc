// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/floor_pingpong.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace omx::bench {

namespace {

constexpr double kLostAfterSeconds = 0.2;
constexpr int kPatience = 50;  // times kLostAfterSeconds
constexpr std::uint32_t kHello = 0xFFFFFFFF;

class PingPong {
 public:
  explicit PingPong(RawSocket& socket)
      : socket_(socket), frame_(std::max(sizeof(FrameHeader) + socket.largest(), kMinFrame)) {}

  FrameHeader& header() { return *reinterpret_cast<FrameHeader*>(frame_.data()); }

  void send(std::size_t size) {
    const std::size_t length = std::max(sizeof(FrameHeader) + size, kMinFrame);
    while (::send(socket_.fd(), frame_.data(), length, 0) < 0 && must_retry("send")) {
    }
  }

  // Copies header and payload of the first frame out of the ring.
  void take(const std::byte* frame) {
    FrameHeader received;
    std::memcpy(&received, frame, sizeof received);
    std::memcpy(frame_.data() + sizeof received, frame + sizeof received,
                std::min<std::size_t>(received.size, socket_.largest()));
    header().kind = received.kind;
    header().size = received.size;
    header().sequence = received.sequence;
    std::memcpy(source_, received.src.data(), sizeof source_);
    socket_.advance();
  }
  NicId source() const { return mac_load(source_); }

 private:
  RawSocket& socket_;
  std::vector<std::byte> frame_;
  std::byte source_[6] = {};
};

// Waits for the answer to `sequence`. Returns false when it seems lost.
bool answer_wait(RawSocket& socket, PingPong& pingpong, std::uint32_t sequence, bool blocking) {
  const Clock::time_point start = Clock::now();
  for (std::uint32_t spins = 1;; spins++) {
    if (const std::byte* frame = socket.front()) {
      pingpong.take(frame);
      if (pingpong.header().sequence == sequence) return true;
      continue;
    }
    if (blocking) socket.sleep(static_cast<int>(kLostAfterSeconds * 1000));
    const bool look = blocking || spins % 65536 == 0;
    if (look && seconds_between(start, Clock::now()) > kLostAfterSeconds) return false;
  }
}

// Waits until the server answers: it may start a little later than this client.
void peer_wait(const FloorOptions& options, RawSocket& socket, PingPong& pingpong) {
  for (int i = 0; i < kPatience; i++) {
    pingpong.header().sequence = kHello;
    pingpong.send(0);
    if (answer_wait(socket, pingpong, kHello, options.blocking)) return;
  }
  die(1, "no answer from {} on {}: is the server running there?", options.peer, options.interface);
}

}  // namespace

void pingpong_server(const FloorOptions& options) {
  RawSocket socket(options, true);
  PingPong pingpong(socket);
  pingpong.header() = socket.header(0, Kind::ping);
  for (;;) {
    const std::byte* frame = socket.front();
    if (!frame) {
      if (options.blocking) socket.sleep(-1);
      continue;
    }
    pingpong.take(frame);
    const auto kind = static_cast<Kind>(pingpong.header().kind);
    if (kind == Kind::end && !options.forever) return;
    if (kind != Kind::ping) continue;
    mac_store(pingpong.header().dst.data(), pingpong.source());
    pingpong.send(pingpong.header().size);
  }
}

void pingpong_client(const FloorOptions& options, NicId peer) {
  RawSocket socket(options, true);
  PingPong pingpong(socket);
  pingpong.header() = socket.header(peer, Kind::ping);
  Report report(options.blocking ? "raw-pingpong-blocking" : "raw-pingpong", options);
  for (std::size_t size : options.sizes) {
    if (size <= socket.largest())
      report.reserve(
          size, static_cast<std::size_t>(options.iterations) * static_cast<std::size_t>(options.repeats));
  }
  peer_wait(options, socket, pingpong);
  std::uint32_t sequence = 0;
  TimeLimit limit(options);
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (std::size_t size : options.sizes) {
      if (size > socket.largest()) continue;
      pingpong.header().size = static_cast<std::uint32_t>(size);
      Clock::time_point before = Clock::now();
      for (int i = -options.warm_up; i < options.iterations && !limit.over(); i++) {
        pingpong.header().sequence = ++sequence;
        pingpong.send(size);
        const bool answered = answer_wait(socket, pingpong, sequence, options.blocking);
        const Clock::time_point after = Clock::now();
        if (!answered) {
          report.lost(size, 1);
        } else if (i >= 0) {
          report.latency(size, seconds_between(before, after) * 1e6 / 2);
        }
        before = answered ? after : Clock::now();
        limit.look(before);
      }
    }
  }
  socket.send_control(socket.header(peer, Kind::end));
  report.print_latency();
}

}  // namespace omx::bench
