// SPDX-License-Identifier: BSD-3-Clause
// The cost of a read of a queue by UDP, where each poll of the network is a system call. Open MPI answers a
// message only after a read that found nothing more.
#include <dlfcn.h>
#include <sys/syscall.h>

#include <cstdarg>
#include <cstdlib>

#include "fabric_pair.h"

namespace {
thread_local unsigned t_looks = 0;
}

// Replaces the C library's function for the provider.
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) {
  using Call = long (*)(long, long, long, long, long, long, long);
  static const auto real = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "syscall"));
  if (number == SYS_recvmsg || number == SYS_recvfrom || number == SYS_recvmmsg) t_looks++;
  std::va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

namespace omx::fabric::test {
namespace {

class PollsByUdp : public FabricTest {
 protected:
  void SetUp() override {
    FabricTest::SetUp();
    if (IsSkipped()) return;
    static const bool once = [] {
      link::ip("link set lo up");  // both addresses are of this host
      link::ip("address add 10.9.8.1/24 dev v0");
      link::ip("address add 10.9.8.2/24 dev v1");
      ::setenv("OMX_LINK", "udp", 1);
      ::setenv("OMX_PROGRESS", "off", 1);  // the progress thread would take what the reads should find
      return true;
    }();
    ASSERT_TRUE(once);
    open();
    meet();
    ASSERT_TRUE(quiet(a));
  }

  ssize_t read() {
    fi_cq_tagged_entry entry;
    return fi_cq_read(a.cq, &entry, 1);
  }
  unsigned looks_of_read(ssize_t expected) {
    const unsigned before = t_looks;
    EXPECT_EQ(read(), expected);
    return t_looks - before;
  }
};

TEST_F(PollsByUdp, read_in_vain__looks_once) {
  constexpr unsigned kReads = 160;
  unsigned looks = 0;
  for (unsigned i = 0; i < kReads; i++) looks += looks_of_read(-FI_EAGAIN);
  EXPECT_GE(looks, kReads);
  EXPECT_LT(looks, 2 * kReads);  // now and then a read polls everything
}

TEST_F(PollsByUdp, read_that_finds_the_queue_drained__does_not_look) {
  constexpr unsigned kMessages = 32;
  Bytes in(8);
  const Bytes out = pattern(8, 1);
  unsigned drained = 0, next = 0;
  for (unsigned i = 0; i < kMessages; i++) {
    receive(a, in, 7);
    ASSERT_EQ(fi_tinject(b.ep, out.data(), out.size(), b_to_a, 7), 0);
    ASSERT_TRUE(link::becomes_true([&] { return read() == 1; }));
    EXPECT_EQ(in, out);
    drained += looks_of_read(-FI_EAGAIN);
    next += looks_of_read(-FI_EAGAIN);
  }
  EXPECT_LT(drained, kMessages / 2);
  EXPECT_GE(next, kMessages);
}

TEST_F(PollsByUdp, read_without_room__looks_after_a_drained_queue_too) {
  Bytes in(8);
  const Bytes out = pattern(8, 1);
  receive(a, in, 7);
  ASSERT_EQ(fi_tinject(b.ep, out.data(), out.size(), b_to_a, 7), 0);
  ASSERT_TRUE(link::becomes_true([&] { return read() == 1; }));
  const unsigned before = t_looks;
  fi_cq_read(a.cq, nullptr, 0);
  EXPECT_GE(t_looks, before + 1);
}

}  // namespace
}  // namespace omx::fabric::test
