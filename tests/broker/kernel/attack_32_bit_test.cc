// SPDX-License-Identifier: BSD-3-Clause
// Attacks by the system calls of 32-bit programs, which the kernel does not show to the seal. Any 64-bit
// program can make them.
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/bytes.h"
#include "sealed_fixture.h"

namespace omx::broker {
namespace {

using attack_32_bit = SealedTest;

#if defined(__x86_64__)

constexpr long kGetpid = 20, kSetsockopt = 366;

long call_32(long number, long a, long b, long c, long d, long e) {
  long result = number;
  // The kernel destroys r8 to r11.
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
               : "memory", "r8", "r9", "r10", "r11");
  return static_cast<int>(result);
}

// Returns 0 or errno.
int option_set_32(const OwnFd& socket, int level, int option, const void* value, std::size_t bytes) {
  void* const low =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return errno;
  std::memcpy(low, value, bytes);
  const long result = call_32(kSetsockopt, socket.get(), level, option, reinterpret_cast<long>(low),
                              static_cast<long>(bytes));
  ::munmap(low, 4096);
  return result < 0 ? static_cast<int>(-result) : 0;
}

// Without 32-bit calls the kernel kills the process that tries one.
bool calls_there() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(call_32(kGetpid, 0, 0, 0, 0, 0) == ::getpid() ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

#else

int option_set_32(const OwnFd&, int, int, const void*, std::size_t) {
  return ENOSYS;
}
bool calls_there() {
  return false;
}

#endif

std::vector<Bytes> bad_frames(const Bytes& good) {
  Bytes type = good, source = good, endpoint = good, board = good;
  type[13] = std::byte{0};
  source[6] ^= std::byte{1};
  endpoint[18] ^= std::byte{1};
  board[16] = std::byte{3};  // HOST_QUERY
  return {type, source, endpoint, board};
}

TEST_F(attack_32_bit, past_the_queue__nothing_gets_out) {
  if (!calls_there()) GTEST_SKIP() << "no system calls of 32-bit programs here";
  const Sealed sealed = open(kEndpoint), other = open(10);
  const Bytes good = frame_from(kEndpoint, 39);
  as_user([&] {
    const int one = 1;
    // The option itself cannot be refused: what matters is what leaves.
    EXPECT_EQ(option_set_32(sealed.data, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one), 0);
    for (const Bytes& frame : bad_frames(good)) send_frame(sealed.data, frame);
    EXPECT_EQ(send_frame(sealed.data, good), 0);
  });
  as_user([&] { EXPECT_EQ(send_frame(other.data, last_from(10)), 0); });
  EXPECT_TRUE(arrived(10) == std::vector<Bytes>{good});
  ASSERT_EQ(grant_clear(maps_, sealed.slot), 0);
  as_user([&] { send_frame(sealed.data, good); });
  as_user([&] { EXPECT_EQ(send_frame(other.data, last_from(10)), 0); });
  EXPECT_TRUE(arrived(10).empty()) << "after the grant was revoked";
}

TEST_F(attack_32_bit, options_that_need_a_right__are_refused) {
  if (!calls_there()) GTEST_SKIP() << "no system calls of 32-bit programs here";
  const Sealed sealed = open(kEndpoint);
  as_user([&] {
    for (const std::uint32_t mark : {0U, 7U, kMarkMagic | 101})
      EXPECT_EQ(option_set_32(sealed.data, SOL_SOCKET, SO_MARK, &mark, sizeof mark), EPERM);
    const int zero = 0;
    EXPECT_EQ(option_set_32(sealed.data, SOL_SOCKET, SO_DETACH_FILTER, &zero, sizeof zero), EPERM);
    EXPECT_EQ(option_set_32(sealed.data, SOL_SOCKET, SO_LOCK_FILTER, &zero, sizeof zero), EPERM);
    EXPECT_NE(option_set_32(sealed.data, SOL_SOCKET, SO_ATTACH_BPF, &zero, sizeof zero), 0);
  });
}

// A frame that passed the first program is not counted by the second.
TEST_F(attack_32_bit, no_attack__each_frame_counts_once) {
  const Sealed sealed = open(kEndpoint);
  const Bytes good = frame_from(kEndpoint, 39);
  attack_by(sealed, {good, good});
  EXPECT_EQ(arrived(kEndpoint).size(), 2U);
  EXPECT_EQ(counters(sealed).frames, 3U);
}

}  // namespace
}  // namespace omx::broker
