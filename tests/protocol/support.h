// SPDX-License-Identifier: BSD-3-Clause
// Two endpoints, short functions to use them, and frames made by hand.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "protocol/state/state.h"
#include "tests/protocol/harness.h"

namespace omx::protocol::test {

using Bytes = std::vector<std::byte>;

inline constexpr TimeNs kSecond = 1000 * kMillisecond;

inline wire::PacketType type_of(const Bytes& frame) {
  return static_cast<wire::PacketType>(frame.at(16));
}

// Drops the next `count` frames of a type.
inline std::function<bool(const Bytes&)> drop_next(wire::PacketType type, int count) {
  return [type, left = count](const Bytes& frame) mutable { return type_of(frame) == type && left-- > 0; };
}
inline std::function<bool(const Bytes&)> drop_all(wire::PacketType type) {
  return [type](const Bytes& frame) { return type_of(frame) == type; };
}

// Makes a frame encoded by `encode(buffer, head)`, with `data` behind the header.
template <class Encode>
Bytes hand_made(NicId from, NicId to, wire::PacketType type, Encode encode, const Bytes& data = {}) {
  std::byte buffer[wire::kHeaderCapacity] = {};
  const wire::Head head{to, from, 0, type};
  const std::size_t n = encode(buffer, head);
  Bytes frame(buffer, buffer + n);
  frame.insert(frame.end(), data.begin(), data.end());
  if (frame.size() < wire::kMinFrame) frame.resize(wire::kMinFrame);
  return frame;
}

inline Bytes hand_made_nack_lib(const Host& from, const Host& to, std::uint16_t seqnum, int code) {
  wire::NackLib nack;
  nack.src_endpoint = from.endpoint->config().endpoint;
  nack.dst_endpoint = to.endpoint->config().endpoint;
  nack.code = static_cast<wire::NackCode>(code);
  nack.seqnum = seqnum;
  return hand_made(from.endpoint->config().nic, to.endpoint->config().nic, wire::PacketType::nack_lib,
                   [&](std::byte* out, const wire::Head& head) { return encode_nack_lib(out, head, nack); });
}

inline Bytes hand_made_pull(const Host& from, const Host& to, const wire::Pull& pull) {
  return hand_made(from.endpoint->config().nic, to.endpoint->config().nic, wire::PacketType::pull,
                   [&](std::byte* out, const wire::Head& head) {
                     return encode_pull(out, head, from.endpoint->config().mode, pull);
                   });
}

inline bool is_connect(const Bytes& frame, bool reply, wire::Connect& packet) {
  return type_of(frame) == wire::PacketType::connect &&
         wire::decode_connect(frame, packet) == wire::Drop::none && packet.is_reply == reply;
}

class PairTest : public testing::Test {
 protected:
  void open(const Config& config_a = {}, const Config& config_b = {}, bool connect_back = true) {
    a = &network.add(config_a);
    b = &network.add(config_b);
    to_b = connect(network, *a, *b);
    ASSERT_NE(to_b, nullptr);
    if (connect_back) {
      to_a = connect(network, *b, *a);
      ASSERT_NE(to_a, nullptr);
    } else {
      to_a = (*b)->find_peer((*a)->config().nic, 0);
    }
    // As after a large message: long messages leave unasked (eager_window.h).
    for (Peer* p : {to_a, to_b})
      if (p) p->bulk.alone = true;
  }

  // Returns memory that lives as long as the test.
  Bytes& room(std::size_t length) { return memory_.emplace_back(length, std::byte{0xEE}); }
  Bytes& message(std::size_t length, std::uint64_t seed = 1) {
    return memory_.emplace_back(pattern(seed, length));
  }

  Request* send(Host& from, Peer* to, Bytes& data, std::uint64_t match, bool synchronous = false) {
    Segment s = segment(data);
    SendOp op;
    op.peer = to;
    op.segments = {&s, 1};
    op.match_info = match;
    op.synchronous = synchronous;
    return from->send(network.now, op).value();
  }
  Request* receive(Host& at, Bytes& data, std::uint64_t match, std::uint64_t mask = ~std::uint64_t{0}) {
    Segment s = segment(data);
    ReceiveOp op;
    op.segments = {&s, 1};
    op.match_info = match;
    op.match_mask = mask;
    return at->receive(network.now, op).value();
  }
  Completion wait(Host& at, Request* request, TimeNs limit = 600 * kSecond) {
    const bool finished = network.run_until([&] { return at->done(request); }, limit);
    EXPECT_TRUE(finished) << "request still pending";
    return finished ? at->consume(request) : Completion{};
  }
  // Sends one message and expects it intact.
  void exchange(Host& from, Peer* to, Host& at, std::size_t length, std::uint64_t match = 77) {
    Bytes& out = message(length, match + length);
    Bytes& in = room(length);
    Request* r = receive(at, in, match);
    Request* s = send(from, to, out, match);
    EXPECT_EQ(wait(at, r, 100 * kSecond).status, Status::success) << length;
    EXPECT_EQ(wait(from, s, 100 * kSecond).status, Status::success) << length;
    EXPECT_EQ(in, out);
  }
  void exchange_both_ways() {
    for (const std::size_t length : {0, 20, 100, 5000, 100000}) {
      exchange(*a, to_b, *b, length);
      exchange(*b, to_a, *a, length);
    }
  }
  Request* connect_start(Host& from, Host& to, std::uint32_t key = 0) {
    return from->connect(network.now, to->config().nic, to->config().endpoint, key, 0, nullptr, false)
        .value();
  }

  Network network{11};
  Host* a = nullptr;
  Host* b = nullptr;
  Peer* to_b = nullptr;
  Peer* to_a = nullptr;

 private:
  std::deque<Bytes> memory_;
};

inline Config with_session(std::uint32_t session, Config config = {}) {
  config.session = session;
  return config;
}
inline Config with_bulk(std::uint8_t host, std::uint32_t mtu = 1500) {
  Config config;
  config.mtu = mtu;
  config.bulk.address.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, host};
  config.bulk.address.port = static_cast<std::uint16_t>(4000 + host);
  config.bulk.address.frame = static_cast<std::uint16_t>(mtu - 28);
  config.bulk.network_bits = 120;
  config.bulk.window = 256 << 10;
  return config;
}
inline Config reference() {
  Config config;
  config.extension = false;
  return config;
}

}  // namespace omx::protocol::test
