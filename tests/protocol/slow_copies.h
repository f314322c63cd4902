// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "protocol/offload.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {

// Copies on command, from what the frames held when they came.
class SlowCopies final : public Offload {
 public:
  Answer copy(const Copy& copy, std::uint64_t& ticket) override {
    bytes += copy.bytes;
    offsets.push_back(copy.offset);
    if (copy.message.medium) medium++;
    if (answer == Answer::copied) std::memcpy(copy.to, copy.from, copy.bytes);
    if (answer != Answer::later) return answer;
    ticket = ++submitted;
    waiting.push_back({copy.to, {copy.from, copy.from + copy.bytes}});
    if (fast) make_one();
    return answer;
  }
  std::uint64_t completed() override {
    asked++;
    return done;
  }
  bool failed(std::uint64_t first, std::uint64_t last) const override {
    return first <= lost && lost <= last;
  }
  void ended(std::uint64_t message_bytes, TimeNs waited) override { ends.push_back({message_bytes, waited}); }
  void drain() override {
    while (!waiting.empty()) make_one();
    drained++;
  }
  void make_one() {
    std::memcpy(waiting.front().to, waiting.front().data.data(), waiting.front().data.size());
    waiting.pop_front();
    done++;
  }

  struct Waiting {
    std::byte* to;
    Bytes data;
  };
  Answer answer = Answer::later;
  bool fast = false;
  std::deque<Waiting> waiting;
  std::vector<std::uint64_t> offsets;
  std::vector<std::pair<std::uint64_t, TimeNs>> ends;
  std::uint64_t submitted = 0, done = 0, bytes = 0, asked = 0, drained = 0, lost = 0, medium = 0;
};

// A pair whose second endpoint has slow copies, and a message to it.
class SlowCopiesTest : public PairTest {
 protected:
  explicit SlowCopiesTest(std::size_t length) : length_(length) {}
  void SetUp() override {
    Config config;
    Config own = config;
    own.offload = &copies;
    open(config, own);
  }
  void begin() {
    out = &message(length_);
    in = &room(length_);
    receiving = receive(*b, *in, 1);
    sending = send(*a, to_b, *out, 1);
  }

  SlowCopies copies;
  Bytes* out = nullptr;
  Bytes* in = nullptr;
  Request* receiving = nullptr;
  Request* sending = nullptr;

 private:
  const std::size_t length_;
};

}  // namespace omx::protocol::test
