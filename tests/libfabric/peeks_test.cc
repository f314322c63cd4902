// SPDX-License-Identifier: BSD-3-Clause
// Peeking at messages, claiming and discarding them (docs/spec/libfabric.md 6.2).
#include <chrono>

#include "fabric_pair.h"

namespace omx::fabric::test {
namespace {

int x, y, z;  // contexts

class Peeks : public FabricTest {
 protected:
  ssize_t peek(std::uint64_t tag, std::uint64_t flags, void* context, Bytes* memory = nullptr) {
    fi_msg_tagged message{};
    iovec piece{};
    if (memory) {
      piece = {memory->data(), memory->size()};
      message.msg_iov = &piece;
      message.iov_count = 1;
    }
    message.addr = FI_ADDR_UNSPEC;
    message.tag = tag;
    message.context = context;
    return fi_trecvmsg(b.ep, &message, flags | FI_COMPLETION);
  }
  // Peeks until a message is found.
  Event peek_found(std::uint64_t tag, std::uint64_t flags, void* context, Bytes* memory = nullptr) {
    Event event;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < until) {
      EXPECT_EQ(peek(tag, FI_PEEK | flags, context, memory), 0);
      event = ended(b, context);
      if (!event.failed) break;
      EXPECT_EQ(event.error.err, FI_ENOMSG);
    }
    return event;
  }
};

TEST_F(Peeks, tell_length_tag_data_and_leave_the_message) {
  open();
  EXPECT_EQ(peek(1, FI_PEEK, &x), 0);
  EXPECT_EQ(ended(b, &x).error.err, FI_ENOMSG);
  for (const std::size_t size : {std::size_t{10}, std::size_t{200'000}}) {
    const Bytes out = pattern(size, 1);
    EXPECT_EQ(fi_tsenddata(a.ep, out.data(), size, nullptr, 99, a_to_b, 1, &y), 0);
    const Event seen = peek_found(1, 0, &x);
    EXPECT_EQ(seen.good.len, size);
    EXPECT_EQ(seen.good.tag, 1U);
    EXPECT_EQ(seen.good.data, 99U);
    EXPECT_TRUE(seen.good.flags & FI_REMOTE_CQ_DATA);
    Bytes in(size);
    receive(b, in, 1, 0, &z);
    EXPECT_FALSE(ended(b, &z).failed);
    EXPECT_EQ(in, out);
    EXPECT_FALSE(ended(a, &y).failed);
  }
}

// lf#3046, lf#9342: the meaning of a peek's buffer was never clear, and the manual no longer mentions it.
TEST_F(Peeks, ignore_their_buffer) {
  open();
  send(a, a_to_b, pattern(100, 1), 1);
  Bytes memory(100, std::byte{0xEE});
  const Bytes before = memory;
  const Event seen = peek_found(1, 0, &x, &memory);
  EXPECT_EQ(seen.good.len, 100U);
  EXPECT_EQ(seen.good.buf, nullptr);
  EXPECT_EQ(memory, before);
}

TEST_F(Peeks, claimed_messages_are_received_by_context_alone) {
  open();
  for (const std::size_t size : {std::size_t{10}, std::size_t{200'000}}) {
    const Bytes first = pattern(size, 1), second = pattern(size, 2);
    send(a, a_to_b, first, 1, &y);
    send(a, a_to_b, second, 1, &y);
    EXPECT_FALSE(peek_found(1, FI_CLAIM, &x).failed);
    Bytes in(size);
    receive(b, in, 1, 0, &z);
    EXPECT_FALSE(ended(b, &z).failed);
    EXPECT_EQ(in, second);
    EXPECT_EQ(peek(12345, FI_CLAIM, &x, &in), 0);  // another tag: the context decides
    EXPECT_EQ(ended(b, &x).good.tag, 1U);
    EXPECT_EQ(in, first);
    EXPECT_FALSE(ended(a, &y).failed);
    EXPECT_FALSE(ended(a, &y).failed);
  }
  EXPECT_EQ(peek(1, FI_CLAIM, &x), -FI_EINVAL);  // nothing is claimed
}

TEST_F(Peeks, discarded_messages_end_for_their_sender) {
  open();
  for (const std::size_t size : {std::size_t{10}, std::size_t{200'000}}) {
    send(a, a_to_b, pattern(size, 1), 1, &y);
    EXPECT_EQ(peek_found(1, FI_DISCARD, &x).good.len, size);
    EXPECT_FALSE(ended(a, &y).failed);
    send(a, a_to_b, pattern(size, 1), 2, &y);
    EXPECT_EQ(peek_found(2, FI_CLAIM, &x).good.len, size);
    EXPECT_EQ(peek(2, FI_CLAIM | FI_DISCARD, &x), 0);
    EXPECT_FALSE(ended(b, &x).failed);
    EXPECT_FALSE(ended(a, &y).failed);
    EXPECT_EQ(peek(2, FI_PEEK, &x), 0);
    EXPECT_EQ(ended(b, &x).error.err, FI_ENOMSG);
  }
}

// mpich#2439
TEST_F(Peeks, of_messages_to_oneself) {
  open();
  const fi_addr_t me = b.learn(b);
  for (const std::size_t size : {std::size_t{10}, std::size_t{200'000}}) {
    send(b, me, pattern(size, 1), 1, &y);
    EXPECT_EQ(peek_found(1, 0, &x).good.len, size);
    Bytes in(size);
    receive(b, in, 1, 0, &z);
    EXPECT_FALSE(ended(b, &z).failed);
    EXPECT_EQ(in, pattern(size, 1));
    EXPECT_FALSE(ended(b, &y).failed);
  }
}

}  // namespace
}  // namespace omx::fabric::test
