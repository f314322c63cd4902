// SPDX-License-Identifier: BSD-3-Clause
// Faults of other providers (docs/spec/libfabric.md 6) that no other test covers. Each test names the issue.
#include <poll.h>

#include <fstream>
#include <thread>

#include "fabric_pair.h"

namespace omx::fabric::test {
namespace {

int x, y;  // contexts

class Pitfalls : public FabricTest {
 protected:
  int send_delivered(fi_addr_t to, const Bytes& data, std::uint64_t tag, void* context) {
    const iovec piece{const_cast<std::byte*>(data.data()), data.size()};
    fi_msg_tagged message{};
    message.msg_iov = &piece;
    message.iov_count = 1;
    message.addr = to;
    message.tag = tag;
    message.context = context;
    return static_cast<int>(fi_tsendmsg(a.ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE));
  }
};

// lf#6019: a receive that is cancelled reports nothing to a sender that waits for delivery.
TEST_F(Pitfalls, a_cancelled_receive_does_not_complete_a_send) {
  open();
  for (const std::size_t size : {std::size_t{10}, std::size_t{200'000}}) {
    Bytes in(size), out = pattern(size, 1);
    receive(b, in, 1, 0, &x);
    ASSERT_EQ(fi_cancel(&b.ep->fid, &x), 0);
    EXPECT_EQ(ended(b, &x).error.err, FI_ECANCELED);
    ASSERT_EQ(send_delivered(a_to_b, out, 1, &y), 0);
    if (size > 100'000) {
      EXPECT_TRUE(quiet(a)) << "nobody has received it";
    }
    receive(b, in, 1, 0, &x);
    EXPECT_FALSE(ended(b, &x).failed);
    EXPECT_FALSE(ended(a, &y).failed);
    EXPECT_EQ(in, out);
    EXPECT_TRUE(quiet(a));
  }
}

// lf#7741: late messages find the address vector and the endpoint closed.
TEST_F(Pitfalls, late_messages_to_what_is_closed) {
  open();
  meet();
  std::thread other([&] {
    EXPECT_EQ(fi_close(&b.ep->fid), 0);
    b.ep = nullptr;
    EXPECT_EQ(fi_close(&b.av->fid), 0);
    b.av = nullptr;
  });
  int contexts[40];
  for (unsigned i = 0; i < std::size(contexts); i++)
    send(a, a_to_b, pattern(i % 2 ? 100 : 100'000, i), 2, &contexts[i]);
  other.join();
  for (int& context : contexts) (void)ended(a, &context);  // with any result
  fi_cq_tagged_entry entry;
  EXPECT_EQ(fi_cq_read(b.cq, &entry, 1), -FI_EAGAIN);
}

// lf#2504: the address is removed while messages to it are on their way.
TEST_F(Pitfalls, an_address_removed_under_messages) {
  open();
  Bytes in(1'000'000), small(100);
  const Bytes out = pattern(in.size(), 1), few = pattern(100, 2);
  ASSERT_EQ(fi_tsend(a.ep, out.data(), out.size(), nullptr, a_to_b, 1, &x), 0);
  ASSERT_EQ(fi_tsend(a.ep, few.data(), few.size(), nullptr, a_to_b, 2, &y), 0);
  ASSERT_EQ(fi_av_remove(a.av, &a_to_b, 1, 0), 0);
  int p, q;
  receive(b, in, 1, 0, &p);
  receive(b, small, 2, 0, &q);
  EXPECT_FALSE(ended(b, &p).failed);
  EXPECT_FALSE(ended(b, &q).failed);
  EXPECT_FALSE(ended(a, &x).failed);
  EXPECT_FALSE(ended(a, &y).failed);
  EXPECT_EQ(in, out);
  EXPECT_EQ(small, few);
}

// ofi-cray#994: every completion was written to a descriptor that no thread read, until it was full.
TEST_F(Pitfalls, a_wait_object_that_nobody_uses_never_fills) {
  End::Options options;
  options.wait = FI_WAIT_FD;
  open(options);
  Bytes in(8);
  for (unsigned i = 0; i < 20'000; i++) {
    receive(b, in, 1, 0, &x);
    send(a, a_to_b, pattern(8, i), 1);
    if (const Event got = ended(b, &x); got.failed) FAIL() << got.error.err;
  }
  int fd = -1;
  ASSERT_EQ(fi_control(&b.cq->fid, FI_GETWAIT, &fd), 0);
  fid* objects[] = {&b.cq->fid};
  ASSERT_EQ(fi_trywait(b.fabric, objects, 1), 0);
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 50), 0) << "nothing is there";
}

// lf#12480: two peers that chose interfaces of different networks hung without a message.
TEST_F(Pitfalls, a_peer_that_cannot_be_reached_is_told_with_both_interfaces) {
  a.open("v0");
  fi_addr_t nobody = FI_ADDR_NOTAVAIL;
  ASSERT_EQ(fi_av_insertsvc(a.av, "02:00:00:00:77:01", "9", &nobody, 0, nullptr), 1);
  std::ifstream file("/sys/class/net/v0/address");
  std::string mac;
  file >> mac;
  testing::internal::CaptureStderr();
  send(a, nobody, pattern(10, 1), 1, &x);
  const Event got = ended(a, &x);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(got.failed);
  EXPECT_EQ(got.error.err, FI_EHOSTUNREACH);
  EXPECT_THAT(told, testing::HasSubstr("v0: no connection from " + mac));
  EXPECT_THAT(told, testing::HasSubstr("to host 02:00:00:00:77:01, endpoint 9"));
  EXPECT_THAT(told, testing::HasSubstr("FI_OMX_IFACE"));
}

// A program that sends much before its peer receives anything, as MPI permits.
TEST_F(Pitfalls, large_sends_that_wait_hold_nothing_back) {
  open();
  meet();
  const Bytes data = pattern(70'000, 1);
  std::vector<int> contexts(600);
  for (int& context : contexts)
    ASSERT_EQ(fi_tsend(a.ep, data.data(), data.size(), nullptr, a_to_b, 1, &context), 0);
  Bytes small(4), in(data.size());
  receive(b, small, 2, 0, &x);
  send(a, a_to_b, pattern(4, 2), 2, &y);
  EXPECT_FALSE(ended(b, &x).failed);
  for (int& context : contexts) {
    std::fill(in.begin(), in.end(), std::byte{0});
    receive(b, in, 1, 0, &x);
    ASSERT_FALSE(ended(b, &x).failed);
    ASSERT_EQ(in, data);
    ASSERT_FALSE(ended(a, &context).failed);
  }
}

}  // namespace
}  // namespace omx::fabric::test
