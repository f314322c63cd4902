// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives in their forms, and what fails in other providers (docs/spec/libfabric.md 6).
#include <cstring>

#include "fabric_pair.h"

namespace omx::fabric::test {
namespace {

int x, y, z;  // contexts

class Messages : public FabricTest {};

TEST_F(Messages, tagged_of_every_size) {
  open();
  for (const std::size_t size : {0, 1, 32, 33, 128, 129, 4096, 9000, 32768, 32769, 100'000, 3'000'000}) {
    const Bytes out = pattern(size, static_cast<unsigned>(size));
    Bytes in(size + 1, std::byte{0xEE});
    receive(b, in, 7, 0, &x);
    send(a, a_to_b, out, 7, &y);
    const Event got = ended(b, &x);
    EXPECT_FALSE(got.failed);
    EXPECT_EQ(got.good.len, size);
    EXPECT_EQ(got.good.tag, 7U);
    EXPECT_EQ(got.good.flags, FI_RECV | FI_TAGGED);
    EXPECT_EQ(in.back(), std::byte{0xEE});
    in.resize(size);
    EXPECT_EQ(in, out);
    EXPECT_EQ(ended(a, &y).good.flags, FI_SEND | FI_TAGGED);
  }
}

TEST_F(Messages, tagged_and_untagged_never_meet) {
  open();
  Bytes tagged(4), untagged(4);
  const Bytes one = pattern(4, 1), two = pattern(4, 2);
  receive(b, tagged, 0, ~std::uint64_t{0}, &x);
  EXPECT_EQ(fi_recv(b.ep, untagged.data(), 4, nullptr, FI_ADDR_UNSPEC, &y), 0);
  EXPECT_EQ(fi_send(a.ep, one.data(), 4, nullptr, a_to_b, &z), 0);
  const Event got = ended(b, &y);
  EXPECT_EQ(got.good.flags, FI_RECV | FI_MSG);
  EXPECT_EQ(untagged, one);
  send(a, a_to_b, two, 9);
  EXPECT_EQ(ended(b, &x).good.tag, 9U);
  EXPECT_EQ(tagged, two);
}

TEST_F(Messages, remote_data_with_every_kind_of_send) {
  open();
  const Bytes out = pattern(50'000, 3);
  const std::uint64_t data = 0xFEDCBA9876543210;
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{50'000}}) {
    Bytes in(size);
    receive(b, in, 1, 0, &x);
    EXPECT_EQ(fi_tsenddata(a.ep, out.data(), size, nullptr, data, a_to_b, 1, &y), 0);
    const Event got = ended(b, &x);
    EXPECT_EQ(got.good.flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
    EXPECT_EQ(got.good.data, data);
    EXPECT_EQ(ended(a, &y).failed, false);
  }
  Bytes in(8);
  EXPECT_EQ(fi_recv(b.ep, in.data(), 8, nullptr, FI_ADDR_UNSPEC, &x), 0);
  EXPECT_EQ(fi_injectdata(a.ep, out.data(), 8, 77, a_to_b), 0);
  EXPECT_EQ(ended(b, &x).good.data, 77U);
  EXPECT_EQ(fi_recv(b.ep, in.data(), 8, nullptr, FI_ADDR_UNSPEC, &x), 0);
  EXPECT_EQ(fi_senddata(a.ep, out.data(), 8, nullptr, 78, a_to_b, &y), 0);
  EXPECT_EQ(ended(b, &x).good.data, 78U);
  receive(b, in, 5, 0, &x);
  EXPECT_EQ(fi_tinjectdata(a.ep, out.data(), 8, 79, a_to_b, 5), 0);
  EXPECT_EQ(ended(b, &x).good.data, 79U);
}

TEST_F(Messages, pieces) {
  open();
  const Bytes out = pattern(60'000, 4);
  Bytes in(60'000);
  const auto piece = [](const Bytes& all, std::size_t from, std::size_t length) {
    return iovec{const_cast<std::byte*>(all.data()) + from, length};
  };
  const iovec from[] = {piece(out, 0, 10), piece(out, 10, 0), piece(out, 10, 39'990),
                        piece(out, 40'000, 20'000)};
  const iovec to[] = {piece(in, 0, 30'001), piece(in, 30'001, 29'999)};
  EXPECT_EQ(fi_trecvv(b.ep, to, nullptr, 2, FI_ADDR_UNSPEC, 5, 0, &x), 0);
  EXPECT_EQ(fi_tsendv(a.ep, from, nullptr, 4, a_to_b, 5, &y), 0);
  EXPECT_EQ(ended(b, &x).good.len, 60'000U);
  EXPECT_EQ(in, out);
  const std::vector<iovec> many(9, piece(out, 0, 1));
  EXPECT_EQ(fi_tsendv(a.ep, many.data(), nullptr, many.size(), a_to_b, 5, &y), -FI_EINVAL);
}

TEST_F(Messages, injected_memory_may_be_reused_at_once) {
  open();
  Bytes out(200), in(200);
  for (unsigned i = 0; i < 300; i++) {
    out = pattern(200, i);
    ssize_t result = 0;
    drive_until([&] { return (result = fi_tinject(a.ep, out.data(), out.size(), a_to_b, i)) != -FI_EAGAIN; });
    EXPECT_EQ(result, 0);
  }
  out.assign(200, std::byte{0});
  for (unsigned i = 0; i < 300; i++) {
    receive(b, in, i, 0, &x);
    EXPECT_FALSE(ended(b, &x).failed);
    EXPECT_EQ(in, pattern(200, i));
  }
  EXPECT_TRUE(quiet(a));  // these sends have no completions
  const Bytes large(5000);
  EXPECT_EQ(fi_tinject(a.ep, large.data(), large.size(), a_to_b, 1), -FI_EMSGSIZE);
}

TEST_F(Messages, truncation_reports_the_prefix_and_concerns_one_receive_only) {
  open();
  for (const std::size_t size : {std::size_t{30}, std::size_t{3000}, std::size_t{300'000}}) {
    const Bytes out = pattern(size, 5);
    for (const bool late : {false, true}) {
      Bytes in(size / 3 + 8, std::byte{0xEE});
      const auto post = [&] {
        EXPECT_EQ(fi_trecv(b.ep, in.data(), size / 3, nullptr, FI_ADDR_UNSPEC, 6, 0, &x), 0);
      };
      if (!late) post();
      send(a, a_to_b, out, 6, &y);
      if (late) {
        EXPECT_TRUE(quiet(b));
        post();
      }
      const Event got = ended(b, &x);
      ASSERT_TRUE(got.failed);
      EXPECT_EQ(got.error.err, FI_ETRUNC);
      EXPECT_EQ(got.error.len, size / 3);
      EXPECT_EQ(got.error.olen, size - size / 3);
      EXPECT_EQ(got.error.tag, 6U);
      EXPECT_EQ(std::memcmp(in.data(), out.data(), size / 3), 0);
      EXPECT_EQ(in[size / 3], std::byte{0xEE});
      EXPECT_FALSE(ended(a, &y).failed);
      Bytes after(size);
      receive(b, after, 8, 0, &x);
      send(a, a_to_b, out, 8, &y);
      EXPECT_FALSE(ended(b, &x).failed);
      EXPECT_FALSE(ended(a, &y).failed);
    }
  }
}

TEST_F(Messages, directed_receives_and_sources) {
  End::Options options;
  options.caps = FI_TAGGED | FI_MSG | FI_DIRECTED_RECV | FI_SOURCE;
  open(options);
  End c;
  c.open("v0", options);
  const fi_addr_t c_to_b = c.learn(b), b_to_c = b.learn(c);
  Bytes one(4), two(4);
  receive(b, one, 1, 0, &x, b_to_c);
  receive(b, two, 1, 0, &y, b_to_a);
  send(a, a_to_b, pattern(4, 1), 1);
  EXPECT_EQ(ended(b, &y).source, b_to_a);
  const Bytes last = pattern(4, 2);
  EXPECT_EQ(fi_tsend(c.ep, last.data(), 4, nullptr, c_to_b, 1, &z), 0);
  const Event from_c = [&] {
    drive_until([&] { return fi_cq_read(c.cq, nullptr, 0) >= 0; });
    return ended(b, &x);
  }();
  EXPECT_EQ(from_c.source, b_to_c);
  EXPECT_EQ(two, pattern(4, 1));
}

// lf#7425: a peer that sends before its address was inserted is found all the same.
TEST_F(Messages, a_message_from_an_address_that_is_inserted_later) {
  End::Options options;
  options.caps = FI_TAGGED | FI_DIRECTED_RECV | FI_SOURCE;
  a.open("v0", options);
  b.open("v1", options);
  a_to_b = a.learn(b);
  send(a, a_to_b, pattern(4, 1), 1);
  EXPECT_TRUE(quiet(b));
  b_to_a = b.learn(a);
  const fi_addr_t again = b.learn(a);  // lf#7425: two numbers for one peer
  EXPECT_NE(again, b_to_a);
  Bytes in(4);
  receive(b, in, 1, 0, &x, again);
  EXPECT_EQ(ended(b, &x).source, b_to_a);
}

TEST_F(Messages, an_unknown_source_comes_with_its_address) {
  End::Options options;
  options.caps = FI_TAGGED | FI_SOURCE | FI_SOURCE_ERR;
  a.open("v0", options);
  b.open("v1", options);
  a_to_b = a.learn(b);
  Bytes in(4);
  receive(b, in, 1, 0, &x);
  send(a, a_to_b, pattern(4, 1), 1);
  const Event got = ended(b, &x);
  ASSERT_TRUE(got.failed);
  EXPECT_EQ(got.error.err, FI_EADDRNOTAVAIL);
  ASSERT_EQ(got.error.err_data_size, 32U);
  const auto* blob = static_cast<const std::byte*>(got.error.err_data);
  EXPECT_EQ(Bytes(blob, blob + 32), a.name());
}

TEST_F(Messages, to_oneself) {
  open();
  const fi_addr_t me = a.learn(a);
  Bytes in(4);
  send(a, me, pattern(4, 1), 1, &x);
  EXPECT_FALSE(ended(a, &x).failed);  // complete before it is received
  receive(a, in, 1, 0, &y);
  EXPECT_FALSE(ended(a, &y).failed);
  EXPECT_EQ(in, pattern(4, 1));
  const Bytes large = pattern(300'000, 2);
  Bytes large_in(300'000);
  receive(a, large_in, 2, 0, &y);
  send(a, me, large, 2, &x);
  EXPECT_FALSE(ended(a, &x).failed);
  EXPECT_FALSE(ended(a, &y).failed);
  EXPECT_EQ(large_in, large);
}

TEST_F(Messages, more_than_the_queue_holds_is_refused_not_lost) {
  End::Options options;
  options.tx_size = 4;
  open(options);
  const Bytes out = pattern(100'000, 1);
  int sent = 0;
  ssize_t result = 0;
  while ((result = fi_tsend(a.ep, out.data(), out.size(), nullptr, a_to_b, 1, &x)) == 0) sent++;
  EXPECT_EQ(result, -FI_EAGAIN);
  // A send does not count any more when the receiver has said that it waits for a receive.
  EXPECT_GE(sent, 4);
  for (int i = 0; i < sent; i++) {
    Bytes in(100'000);
    receive(b, in, 1, 0, &y);
    EXPECT_FALSE(ended(b, &y).failed);
    EXPECT_EQ(in, out);
  }
  for (int i = 0; i < sent; i++) EXPECT_FALSE(ended(a, &x).failed);
}

TEST_F(Messages, a_queue_of_any_size_keeps_all_completions) {
  open();
  Bytes in(8);
  const Bytes out(8);
  std::vector<int> contexts(3000);
  for (int& c : contexts) receive(b, in, 1, 0, &c);
  for (std::size_t i = 0; i < contexts.size(); i++) {
    ssize_t result = 0;
    do {
      result = fi_tinject(a.ep, out.data(), 8, a_to_b, 1);
      fi_cq_read(a.cq, nullptr, 0);
      fi_cq_read(b.cq, nullptr, 0);
    } while (result == -FI_EAGAIN);
    ASSERT_EQ(result, 0);
  }
  for (int& c : contexts) EXPECT_EQ(next(b).good.op_context, &c);
}

TEST_F(Messages, delivery_complete_waits_for_the_peer) {
  End::Options options;
  options.op_flags = FI_DELIVERY_COMPLETE;
  open(options);
  Bytes in(8);
  receive(b, in, 1, 0, &y);
  send(a, a_to_b, pattern(8, 1), 1, &x);
  EXPECT_FALSE(ended(a, &x).failed);
  EXPECT_EQ(in, pattern(8, 1));
}

TEST_F(Messages, selective_completions) {
  End::Options options;
  options.bind = FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION;
  open(options);
  Bytes in(8), first(8), out = pattern(8, 1);
  receive(b, first, 1, 0, &x);
  send(a, a_to_b, out, 1, &y);
  fi_msg_tagged message{};
  iovec piece{in.data(), 8};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.tag = 2;
  message.context = &x;
  EXPECT_EQ(fi_trecvmsg(b.ep, &message, FI_COMPLETION), 0);
  piece = {out.data(), 8};
  message.addr = a_to_b;
  message.context = &y;
  EXPECT_EQ(fi_tsendmsg(a.ep, &message, FI_COMPLETION), 0);
  // The first messages were before these, and have no completions.
  EXPECT_EQ(next(b).good.tag, 2U);
  EXPECT_FALSE(next(a).failed);
  EXPECT_EQ(first, out);
  EXPECT_TRUE(quiet(a));
  EXPECT_TRUE(quiet(b));
  // Errors are reported in any case.
  EXPECT_EQ(fi_trecv(b.ep, in.data(), 4, nullptr, FI_ADDR_UNSPEC, 3, 0, &x), 0);
  send(a, a_to_b, out, 3);
  EXPECT_TRUE(ended(b, &x).failed);
}

class Cancels : public FabricTest {};

TEST_F(Cancels, exactly_one_completion_and_never_again) {
  open();
  Bytes in(8);
  receive(b, in, 1, 0, &x);
  EXPECT_EQ(fi_cancel(&b.ep->fid, &x), 0);
  const Event got = ended(b, &x);
  ASSERT_TRUE(got.failed);
  EXPECT_EQ(got.error.err, FI_ECANCELED);
  EXPECT_EQ(got.error.tag, 1U);
  EXPECT_EQ(fi_cancel(&b.ep->fid, &x), -FI_ENOENT);
  EXPECT_EQ(fi_cancel(&b.ep->fid, &y), -FI_ENOENT);
  receive(b, in, 2, 0, &x);
  send(a, a_to_b, pattern(8, 1), 2);
  EXPECT_FALSE(ended(b, &x).failed);
  EXPECT_EQ(fi_cancel(&b.ep->fid, &x), -FI_ENOENT);
  EXPECT_TRUE(quiet(b));
}

// lf#5904: it is too late to cancel a receive whose message is arriving. It completes once.
TEST_F(Cancels, not_while_the_data_move) {
  open();
  Bytes in(4'000'000);
  const Bytes out = pattern(in.size(), 1);
  receive(b, in, 1, 0, &x);
  EXPECT_EQ(fi_tsend(a.ep, out.data(), out.size(), nullptr, a_to_b, 1, &y), 0);
  // The announcement of the send matches the receive within some turns.
  for (int i = 0; i < 50; i++) {
    fi_cq_read(a.cq, nullptr, 0);
    fi_cq_read(b.cq, nullptr, 0);
  }
  const ssize_t late = fi_cancel(&b.ep->fid, &x);
  const Event got = ended(b, &x);
  EXPECT_EQ(late == 0, got.failed);
  if (late != 0) {
    EXPECT_EQ(late, -FI_ENOENT);
    EXPECT_EQ(in, out);
    EXPECT_FALSE(ended(a, &y).failed);
  }
  EXPECT_TRUE(quiet(b));
}

// lf#5701: a send cannot be cancelled, and ends by itself when its peer is gone.
TEST_F(Cancels, sends_are_not_but_end) {
  open();
  const Bytes out(300'000);
  EXPECT_EQ(fi_tsend(a.ep, out.data(), out.size(), nullptr, a_to_b, 1, &y), 0);
  EXPECT_EQ(fi_cancel(&a.ep->fid, &y), -FI_ENOENT);
  b.close();
  EXPECT_TRUE(ended(a, &y).failed);
}

class MultiReceives : public FabricTest {
 protected:
  int post(Bytes& memory, void* context) {
    fi_msg message{};
    iovec piece{memory.data(), memory.size()};
    message.msg_iov = &piece;
    message.iov_count = 1;
    message.addr = FI_ADDR_UNSPEC;
    message.context = context;
    return static_cast<int>(fi_recvmsg(b.ep, &message, FI_MULTI_RECV | FI_COMPLETION));
  }
};

TEST_F(MultiReceives, messages_fill_the_memory_and_the_last_gives_it_back) {
  open();
  std::size_t least = 1000;
  EXPECT_EQ(fi_setopt(&b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
  Bytes memory(10'000);
  EXPECT_EQ(post(memory, &x), 0);
  for (unsigned i = 0; i < 10; i++) {
    const Bytes out = pattern(950, i);
    EXPECT_EQ(fi_send(a.ep, out.data(), out.size(), nullptr, a_to_b, &y), 0);
    EXPECT_FALSE(ended(a, &y).failed);
    const Event got = next(b);
    EXPECT_EQ(got.good.op_context, &x);
    EXPECT_EQ(got.good.len, 950U);
    EXPECT_EQ(got.good.buf, memory.data() + i * 950);
    EXPECT_EQ(std::memcmp(got.good.buf, out.data(), out.size()), 0);
    EXPECT_EQ(bool(got.good.flags & FI_MULTI_RECV), i == 9);
  }
}

TEST_F(MultiReceives, cancelled_ones_say_that_they_are_given_back) {
  open();
  Bytes memory(10'000);
  EXPECT_EQ(post(memory, &x), 0);
  EXPECT_EQ(fi_cancel(&b.ep->fid, &x), 0);
  const Event got = ended(b, &x);
  ASSERT_TRUE(got.failed);
  EXPECT_EQ(got.error.err, FI_ECANCELED);
  EXPECT_TRUE(got.error.flags & FI_MULTI_RECV);
}

// lf#8974: the receive is posted while the message is on its way, at each moment of its arrival.
TEST_F(Messages, posted_during_arrival) {
  open();
  for (const std::size_t size : {std::size_t{100}, std::size_t{30'000}, std::size_t{400'000}}) {
    for (int delay = 0; delay < 60; delay++) {
      const Bytes out = pattern(size, static_cast<unsigned>(delay));
      Bytes in(size - 1);
      EXPECT_EQ(fi_tsend(a.ep, out.data(), size, nullptr, a_to_b, 1, &y), 0);
      for (int i = 0; i < delay; i++) fi_cq_read(i % 3 ? b.cq : a.cq, nullptr, 0);
      receive(b, in, 1, 0, &x);
      const Event got = ended(b, &x);
      ASSERT_TRUE(got.failed);
      EXPECT_EQ(got.error.err, FI_ETRUNC);
      EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
      EXPECT_FALSE(ended(a, &y).failed);
    }
  }
}

// lf#9046: a flood slows its sender down. Nothing is lost, and the receiver's memory is bounded.
TEST_F(Messages, a_flood_that_nobody_receives_yet) {
  open();
  const Bytes out(4000);
  int sent = 0;
  for (int i = 0; i < 40'000 && sent < 5000; i++) {
    if (fi_tinject(a.ep, out.data(), out.size(), a_to_b, 1) == 0) sent++;
    if (i % 16 == 0) fi_cq_read(b.cq, nullptr, 0);
  }
  EXPECT_GT(sent, 500);
  Bytes in(4000);
  for (int i = 0; i < sent; i++) {
    receive(b, in, 1, 0, &x);
    ASSERT_FALSE(ended(b, &x).failed);
  }
}

class Deaths : public FabricTest {};

TEST_F(Deaths, an_address_where_nobody_is) {
  open();
  Bytes name = a.name();
  name[13] ^= std::byte{0x55};  // changes the MAC
  const fi_addr_t nobody = a.learn(name);
  send(a, nobody, pattern(8, 1), 1, &x);
  const Event got = ended(a, &x);
  ASSERT_TRUE(got.failed);
  EXPECT_EQ(got.error.err, FI_EHOSTUNREACH);
  EXPECT_STRNE(fi_cq_strerror(a.cq, got.error.prov_errno, nullptr, nullptr, 0), "unknown");
}

TEST_F(Deaths, a_peer_that_closed_and_its_successor) {
  open();
  meet();
  Bytes in(8);
  b.close();
  b.open("v1");
  send(a, a_to_b, pattern(200'000, 2), 1, &y);  // to the peer that is gone
  EXPECT_TRUE(ended(a, &y).failed);
  const fi_addr_t successor = a.learn(b);
  receive(b, in, 2, 0, &x);
  send(a, successor, pattern(8, 3), 2, &y);
  const Event got = ended(b, &x);
  EXPECT_FALSE(got.failed) << got.error.err << " " << got.error.len << " " << got.error.olen << " tag "
                           << got.error.tag;
  EXPECT_EQ(in, pattern(8, 3));
  EXPECT_FALSE(ended(a, &y).failed);
}

}  // namespace
}  // namespace omx::fabric::test
