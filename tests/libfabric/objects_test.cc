// SPDX-License-Identifier: BSD-3-Clause
// Opening, binding, naming and closing of endpoints, address vectors and event queues.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <rdma/fi_collective.h>

#include "fabric_pair.h"

namespace omx::fabric::test {
namespace {

class Objects : public FabricTest {};

TEST_F(Objects, close_in_the_wrong_order_is_refused) {
  open();
  EXPECT_EQ(fi_close(&a.cq->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&a.av->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&a.domain->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&a.fabric->fid), -FI_EBUSY);
}

TEST_F(Objects, enable_needs_a_vector_and_a_queue) {
  End::Options options;
  options.enable = false;
  a.open("v0", options);
  fid_ep* bare = nullptr;
  ASSERT_EQ(fi_endpoint(a.domain, a.info.get(), &bare, nullptr), 0);
  EXPECT_EQ(fi_enable(bare), -FI_ENOAV);
  EXPECT_EQ(fi_ep_bind(bare, &a.av->fid, 0), 0);
  EXPECT_EQ(fi_enable(bare), -FI_ENOCQ);
  EXPECT_EQ(fi_ep_bind(bare, &a.cq->fid, 0), -FI_EINVAL);
  EXPECT_EQ(fi_ep_bind(bare, &a.cq->fid, FI_TRANSMIT | FI_REMOTE_READ), -FI_EBADFLAGS);
  char byte = 0;
  EXPECT_EQ(fi_tsend(bare, &byte, 1, nullptr, 0, 0, nullptr), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_recv(bare, &byte, 1, nullptr, 0, nullptr), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_close(&bare->fid), 0);
  EXPECT_EQ(fi_enable(a.ep), 0);
  EXPECT_EQ(fi_enable(a.ep), -FI_EOPBADSTATE);
}

TEST_F(Objects, names) {
  open();
  std::size_t length = 0;
  EXPECT_EQ(fi_getname(&a.ep->fid, nullptr, &length), -FI_ETOOSMALL);
  EXPECT_EQ(length, 32U);
  char small[10];
  length = sizeof small;
  EXPECT_EQ(fi_getname(&a.ep->fid, small, &length), -FI_ETOOSMALL);
  EXPECT_EQ(a.name().size(), 32U);
  EXPECT_NE(a.name(), b.name());
  Bytes back(64);
  length = back.size();
  EXPECT_EQ(fi_av_lookup(a.av, a_to_b, back.data(), &length), 0);
  back.resize(length);
  EXPECT_EQ(back, b.name());
  char text[64];
  length = sizeof text;
  EXPECT_STREQ(fi_av_straddr(a.av, b.name().data(), text, &length), text);
  EXPECT_THAT(text, testing::StartsWith("fi_omx://"));
  EXPECT_EQ(fi_setname(&a.ep->fid, back.data(), back.size()), -FI_EOPBADSTATE);
}

TEST_F(Objects, an_id_may_be_chosen) {
  End::Options options;
  options.enable = false;
  a.open("v0", options);
  Bytes name = a.name();
  name[7] = std::byte{21};
  name[6] = std::byte{0};
  EXPECT_EQ(fi_setname(&a.ep->fid, name.data(), name.size()), 0);
  EXPECT_EQ(fi_enable(a.ep), 0);
  EXPECT_EQ(a.name()[7], std::byte{21});
  b.open("v0", options);
  EXPECT_EQ(fi_setname(&b.ep->fid, name.data(), name.size()), 0);
  EXPECT_EQ(fi_enable(b.ep), -FI_EADDRINUSE);
}

TEST_F(Objects, pending_receives_vanish_at_close) {
  open();
  Bytes in(8);
  int x = 0;
  for (int i = 0; i < 10; i++) receive(a, in, 1, 0, &x);
  EXPECT_EQ(fi_close(&a.ep->fid), 0);
  a.ep = nullptr;
  fi_cq_tagged_entry entry;
  EXPECT_EQ(fi_cq_read(a.cq, &entry, 1), -FI_EAGAIN);
}

TEST_F(Objects, what_was_sent_arrives_though_its_sender_closes) {
  open();
  Bytes in(3000);
  int x = 0;
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 50; i++) send(a, a_to_b, pattern(3000, i), i);
  a_moves = false;
  std::thread closing([&] { a.close(); });
  for (unsigned i = 0; i < 50; i++) {
    receive(b, in, i, 0, &x);
    EXPECT_FALSE(ended(b, &x).failed);
    EXPECT_EQ(in, pattern(3000, i));
  }
  closing.join();
}

TEST_F(Objects, unknown_calls_say_so) {
  open();
  fid_ep* none = nullptr;
  EXPECT_EQ(fi_scalable_ep(a.domain, a.info.get(), &none, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_connect(a.ep, nullptr, nullptr, 0), -FI_ENOSYS);
  std::size_t length = 0;
  EXPECT_EQ(fi_getpeer(a.ep, nullptr, &length), -FI_ENOSYS);
  EXPECT_EQ(fi_tx_context(a.ep, 0, nullptr, &none, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_barrier(a.ep, 0, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_broadcast(a.ep, nullptr, 0, nullptr, 0, 0, FI_INT8, 0, nullptr), -FI_ENOSYS);
  fi_av_attr attr{};
  attr.name = "shared";
  attr.flags = FI_READ;
  fid_av* av = nullptr;
  EXPECT_NE(fi_av_open(a.domain, &attr, &av, nullptr), 0);  // MPICH relies on this
  char byte = 0;
  EXPECT_EQ(fi_tsend(a.ep, &byte, 1, nullptr, 12345, 0, nullptr), -FI_EINVAL);
}

// lf#1763: a child leaves its parent's endpoints alone, and its calls fail.
TEST_F(Objects, a_forked_child_can_use_nothing) {
  open();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte = 0;
    fi_cq_tagged_entry entry;
    const bool told = fi_tsend(a.ep, &byte, 1, nullptr, a_to_b, 1, nullptr) == -FI_EPERM &&
                      fi_trecv(a.ep, &byte, 1, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr) == -FI_EPERM &&
                      fi_cq_read(a.cq, &entry, 1) == -FI_EAGAIN &&
                      fi_cq_sread(a.cq, &entry, 1, nullptr, 10) == -FI_EAGAIN && fi_close(&a.ep->fid) == 0;
    ::syscall(SYS_exit_group, told ? 0 : 1);  // no sanitizer searches for leaks here
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Bytes in(8);
  int x = 0;
  receive(b, in, 1, 0, &x);
  send(a, a_to_b, pattern(8, 1), 1);
  EXPECT_FALSE(ended(b, &x).failed);
}

// lf#7104: the process ends with everything open and threads inside calls.
TEST_F(Objects, the_end_of_a_process_with_all_open) {
  if (std::getenv("OMX_TEST_CHILD")) {
    open();
    Bytes in(8);
    int x = 0;
    receive(b, in, 1, 0, &x);
    send(a, a_to_b, pattern(8, 1), 1);
    EXPECT_FALSE(ended(b, &x).failed);
    std::exit(HasFailure() ? 1 : 0);
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "OMX_TEST_CHILD=1 exec timeout 20 " + self +
                              " --gtest_filter=Objects.the_end_of_a_process_with_all_open >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

// lf#3485: both sides close at once, with messages on the way to each other.
TEST_F(Objects, both_close_at_once) {
  open();
  for (unsigned i = 0; i < 20; i++) {
    send(a, a_to_b, pattern(5000, i), i);
    send(b, b_to_a, pattern(5000, i), i);
  }
}

class Vectors : public FabricTest {};

TEST_F(Vectors, ten_thousand_addresses_numbered_in_order) {
  open();
  Bytes all;
  const Bytes name = b.name();
  for (unsigned i = 0; i < 10'000; i++) {
    Bytes one = name;
    one[10] = static_cast<std::byte>(i >> 8);
    one[11] = static_cast<std::byte>(i);
    all.insert(all.end(), one.begin(), one.end());
  }
  std::vector<fi_addr_t> numbers(10'000);
  EXPECT_EQ(fi_av_insert(a.av, all.data(), 10'000, numbers.data(), 0, nullptr), 10'000);
  for (std::size_t i = 0; i < numbers.size(); i++) ASSERT_EQ(numbers[i], numbers[0] + i);
  EXPECT_EQ(fi_av_remove(a.av, numbers.data(), numbers.size(), 0), 0);
  EXPECT_EQ(fi_av_remove(a.av, numbers.data(), 1, 0), -FI_EINVAL);
}

TEST_F(Vectors, bad_addresses_are_told_one_by_one) {
  open();
  Bytes two = b.name();
  two.resize(64);
  fi_addr_t numbers[2] = {};
  EXPECT_EQ(fi_av_insert(a.av, two.data(), 2, numbers, 0, nullptr), 1);
  EXPECT_NE(numbers[0], FI_ADDR_NOTAVAIL);
  EXPECT_EQ(numbers[1], FI_ADDR_NOTAVAIL);
  int status[2] = {-1, -1};
  EXPECT_EQ(fi_av_insert(a.av, two.data(), 2, numbers, FI_SYNC_ERR, status), 1);
  EXPECT_EQ(status[0], 0);
  EXPECT_EQ(status[1], FI_EINVAL);
  EXPECT_EQ(fi_av_insert(a.av, nullptr, 2, numbers, 0, nullptr), -FI_EINVAL);
}

TEST_F(Vectors, removed_and_inserted_again) {
  open();
  int x = 0;
  Bytes in(8);
  send(a, a_to_b, pattern(8, 1), 1);
  receive(b, in, 1, 0, &x);
  EXPECT_FALSE(ended(b, &x).failed);
  EXPECT_EQ(fi_av_remove(a.av, &a_to_b, 1, 0), 0);
  char byte = 0;
  EXPECT_EQ(fi_tsend(a.ep, &byte, 1, nullptr, a_to_b, 1, nullptr), -FI_EINVAL);
  a_to_b = a.learn(b);
  send(a, a_to_b, pattern(8, 2), 1);
  receive(b, in, 1, 0, &x);
  EXPECT_FALSE(ended(b, &x).failed);
}

TEST_F(Vectors, by_node_and_service) {
  open();
  fi_addr_t number = FI_ADDR_NOTAVAIL;
  char text[64];
  std::size_t length = sizeof text;
  const std::string mac = std::string(fi_av_straddr(b.av, b.name().data(), text, &length)).substr(9, 17);
  const std::string id = std::to_string(static_cast<int>(b.name()[7]));
  EXPECT_EQ(fi_av_insertsvc(a.av, mac.c_str(), id.c_str(), &number, 0, nullptr), 1);
  Bytes in(8);
  int x = 0;
  receive(b, in, 1, 0, &x);
  send(a, number, pattern(8, 1), 1);
  EXPECT_FALSE(ended(b, &x).failed);
  fi_addr_t numbers[3] = {};
  EXPECT_EQ(fi_av_insertsym(a.av, mac.c_str(), 1, "1", 3, numbers, 0, nullptr), 3);
  EXPECT_EQ(numbers[2], numbers[0] + 2);
  EXPECT_EQ(fi_av_insertsvc(a.av, mac.c_str(), "many", &number, 0, nullptr), -FI_EINVAL);
}

TEST_F(Vectors, asynchronous_insertion_is_told_by_the_event_queue) {
  open();
  fid_eq* eq = nullptr;
  fi_eq_attr attr{};
  ASSERT_EQ(fi_eq_open(a.fabric, &attr, &eq, nullptr), 0);
  fid_av* av = nullptr;
  fi_av_attr av_attr{};
  av_attr.flags = FI_EVENT;
  ASSERT_EQ(fi_av_open(a.domain, &av_attr, &av, nullptr), 0);
  fi_addr_t number = 0;
  int context = 0;
  const Bytes name = b.name();
  EXPECT_EQ(fi_av_insert(av, name.data(), 1, &number, 0, &context), -FI_ENOEQ);
  EXPECT_EQ(fi_av_insertsvc(av, "v1", "1", &number, 0, &context), -FI_ENOEQ);
  ASSERT_EQ(av->fid.ops->bind(&av->fid, &eq->fid, 0), 0);
  EXPECT_EQ(fi_av_insert(av, name.data(), 1, &number, 0, &context), 0);
  std::uint32_t event = 0;
  fi_eq_entry entry{};
  EXPECT_EQ(fi_eq_sread(eq, &event, &entry, sizeof entry, 1000, 0), static_cast<ssize_t>(sizeof entry));
  EXPECT_EQ(event, static_cast<std::uint32_t>(FI_AV_COMPLETE));
  EXPECT_EQ(entry.data, 1U);
  EXPECT_EQ(entry.context, &context);
  EXPECT_EQ(fi_eq_read(eq, &event, &entry, sizeof entry, 0), -FI_EAGAIN);
  EXPECT_EQ(fi_close(&eq->fid), -FI_EBUSY);
  EXPECT_EQ(fi_close(&av->fid), 0);
  // Without FI_EVENT a queue may be bound, and gets no events.
  av_attr.flags = 0;
  ASSERT_EQ(fi_av_open(a.domain, &av_attr, &av, nullptr), 0);
  ASSERT_EQ(av->fid.ops->bind(&av->fid, &eq->fid, 0), 0);
  EXPECT_EQ(fi_av_insert(av, name.data(), 1, &number, 0, &context), 1);
  EXPECT_EQ(fi_eq_read(eq, &event, &entry, sizeof entry, 0), -FI_EAGAIN);
  EXPECT_EQ(fi_close(&av->fid), 0);
  EXPECT_EQ(fi_close(&eq->fid), 0);
}

TEST_F(Objects, event_queues_carry_what_the_application_writes) {
  open();
  fid_eq* eq = nullptr;
  fi_eq_attr attr{};
  attr.flags = FI_WRITE;
  attr.wait_obj = FI_WAIT_FD;
  ASSERT_EQ(fi_eq_open(a.fabric, &attr, &eq, nullptr), 0);
  fi_eq_entry entry{};
  entry.data = 42;
  std::uint32_t event = 0;
  EXPECT_EQ(fi_eq_sread(eq, &event, &entry, sizeof entry, 10, 0), -FI_EAGAIN);
  EXPECT_EQ(fi_eq_write(eq, FI_NOTIFY, &entry, sizeof entry, 0), static_cast<ssize_t>(sizeof entry));
  int fd = -1;
  EXPECT_EQ(fi_control(&eq->fid, FI_GETWAIT, &fd), 0);
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 1000), 1);
  fi_eq_entry got{};
  EXPECT_EQ(fi_eq_read(eq, &event, &got, 4, 0), -FI_ETOOSMALL);
  EXPECT_EQ(fi_eq_read(eq, &event, &got, sizeof got, FI_PEEK), static_cast<ssize_t>(sizeof got));
  EXPECT_EQ(fi_eq_read(eq, &event, &got, sizeof got, 0), static_cast<ssize_t>(sizeof got));
  EXPECT_EQ(got.data, 42U);
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  EXPECT_EQ(fi_close(&eq->fid), 0);
}

}  // namespace
}  // namespace omx::fabric::test
