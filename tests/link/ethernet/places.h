// SPDX-License-Identifier: BSD-3-Clause
// A receiver of pull replies, as bulk paths see it. Frames are distinguished by the byte at F17 (the frame
// number of a PULL_REPLY), and frame n belongs to place n.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "tests/support/test_network.h"
#include "wire/packets.h"

namespace omx::link {

inline constexpr std::uint8_t kReplySource = 3;  // endpoint that sends the replies

class Places : public BulkHandler {
 public:
  // `last` is the number of bytes of the last place.
  Places(std::size_t count, std::size_t data, std::size_t last)
      : memory((count - 1) * data + last), got(count), data_(data), last_(last) {}
  Places(std::size_t count, std::size_t data) : Places(count, data, data) {}

  wire::FrameSender bulk_sender(const wire::BulkAddress& from) override {
    return {from.port == unknown_peer ? NicId{0} : NicId{1}, kReplySource, true};
  }
  std::size_t bulk_places(std::span<iovec> places) override {
    offered_.clear();
    for (std::size_t n = 0; n < got.size() && offered_.size() < places.size(); n++) {
      if (got[n]) continue;
      places[offered_.size()] = {memory.data() + n * data_, length(n)};
      offered_.push_back(n);
    }
    return offered_.size();
  }
  bool bulk_in_place(std::size_t index, wire::Frame frame) override {
    judged++;
    return number(frame) == offered_.at(index) && frame.size() == wire::kBulkHeader + length(number(frame));
  }
  void on_bulk_placed(std::size_t, wire::Frame frame) override {
    got.at(number(frame)) = true;
    placed++;
  }
  void on_bulk_frame(wire::Frame frame) override {
    moved.emplace_back(frame.begin(), frame.end());
    const std::size_t n = number(frame);
    if (n >= got.size() || frame.size() != wire::kBulkHeader + length(n)) return;
    std::memcpy(memory.data() + n * data_, frame.data() + wire::kBulkHeader, length(n));
    got[n] = true;
  }
  static std::size_t number(wire::Frame frame) { return static_cast<std::size_t>(frame[17]); }
  std::size_t length(std::size_t n) const { return n + 1 == got.size() ? last_ : data_; }

  Bytes memory;
  std::vector<bool> got;
  std::vector<Bytes> moved;
  int placed = 0, judged = 0;
  std::uint16_t unknown_peer = 0;  // port that no known peer has

 private:
  std::size_t data_, last_;
  std::vector<std::size_t> offered_;
};

inline Bytes make_reply(NicId dst, NicId src, std::uint8_t number, std::size_t data) {
  constexpr std::uint8_t kReply = 42;
  Bytes frame = make_frame(dst, src, wire::kBulkHeader + data, kReply, 0, number);
  frame[14] = std::byte{kReplySource};
  frame[15] = std::byte{0};  // no flags
  frame[17] = static_cast<std::byte>(number);
  store_be16(frame.data() + 18, static_cast<std::uint16_t>(data));
  store_be32(frame.data() + 28, wire::kPullMagic);
  for (std::size_t i = wire::kBulkHeader; i < frame.size(); i++)
    frame[i] = static_cast<std::byte>(number * 7 + i);
  return frame;
}

inline void expect_all_right(const Places& places, std::size_t data) {
  for (std::size_t n = 0; n < places.got.size(); n++) {
    EXPECT_TRUE(places.got[n]) << n;
    const Bytes whole = make_reply(0, 0, static_cast<std::uint8_t>(n), places.length(n));
    EXPECT_EQ(
        std::memcmp(places.memory.data() + n * data, whole.data() + wire::kBulkHeader, places.length(n)), 0)
        << n;
  }
}

}  // namespace omx::link
