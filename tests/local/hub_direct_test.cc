// SPDX-License-Identifier: BSD-3-Clause
// One copy from the memory of another process, and cases in which that is refused; forks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>

#include "hub_site.h"
#include "local/memory_access.h"
#include "tests/support/emulated.h"
#include "tests/support/signal_child.h"

namespace omx::local {
namespace {

using testing::HasSubstr;

// Completes the sentence of OMX_SKIP_EMULATED.
constexpr const char* kNoReading = "has no process_vm_readv";

class Direct : public HubTest {
 protected:
  Direct() {
    random_fill(memory, 9);
    const protocol::Segment pieces[] = {{memory.data(), 30'000}, {memory.data() + 30'000, 70'000}};
    a->send_region(b.place(), 7, 42, pieces);
  }
  bool read(Site& site, std::uint8_t generation, std::uint64_t offset, std::uint64_t length) {
    out.assign(memory.size(), std::byte{0});
    const protocol::Segment to[] = {{out.data(), 10'000}, {out.data() + 10'000, 90'000}};
    return site->read(a.place().nic, a.place().endpoint, 7, generation, offset, to, length);
  }
  Bytes memory = Bytes(100'000), out;
};

TEST_F(Direct, reads_what_the_region_holds) {
  OMX_SKIP_EMULATED(kNoReading);
  b.turn();
  ASSERT_TRUE(read(b, 42, 0, memory.size()));
  EXPECT_EQ(out, memory);
  ASSERT_TRUE(read(b, 42, 12'345, 50'000));
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 50'000, memory.begin() + 12'345));
  EXPECT_EQ(b->counters().direct_reads, 2U);
  EXPECT_EQ(b->counters().direct_bytes, 150'000U);
}

TEST_F(Direct, refuses_another_generation_region_or_peer) {
  OMX_SKIP_EMULATED(kNoReading);
  EXPECT_FALSE(read(b, 42, 0, 10)) << "not heard of yet";
  b.turn();
  EXPECT_FALSE(read(b, 41, 0, 10));
  const protocol::Segment to{out.data(), 10};
  EXPECT_FALSE(b->read(a.place().nic, a.place().endpoint, 8, 42, 0, {&to, 1}, 10));
  EXPECT_FALSE(b->read(a.place().nic, 9, 7, 42, 0, {&to, 1}, 10));
  EXPECT_EQ(out, Bytes(memory.size())) << "nothing was written";
  const protocol::Segment again{memory.data(), 10};
  a->send_region(b.place(), 7, 43, {&again, 1});
  b.turn();
  EXPECT_FALSE(read(b, 42, 0, 10)) << "stale";
  EXPECT_TRUE(read(b, 43, 0, 10));
}

// The application uses the memory for something else by then. A new user found this fault: a send timed out,
// and a receive came late.
TEST_F(Direct, refuses_a_region_that_is_over) {
  OMX_SKIP_EMULATED(kNoReading);
  b.turn();
  ASSERT_TRUE(read(b, 42, 0, memory.size()));
  a->region_ended(7);
  EXPECT_FALSE(read(b, 42, 0, memory.size()));
  EXPECT_FALSE(read(b, 42, 0, 10));
  // The next region with that number and generation is another one.
  const protocol::Segment again{memory.data(), 10};
  a->send_region(b.place(), 7, 42, {&again, 1});
  EXPECT_FALSE(read(b, 42, 0, 10)) << "not heard of yet";
  b.turn();
  EXPECT_TRUE(read(b, 42, 0, 10));
  // The region is announced again while it lives.
  a->send_region(b.place(), 7, 42, {&again, 1});
  EXPECT_TRUE(read(b, 42, 0, 10));
}

TEST_F(Direct, refuses_beyond_the_region) {
  b.turn();
  EXPECT_FALSE(read(b, 42, 99'999, 2));
  EXPECT_FALSE(read(b, 42, 100'000, 1));
  EXPECT_FALSE(read(b, 42, ~std::uint64_t{0} - 5, 10));
}

TEST_F(Direct, refuses_memory_that_is_gone) {
  OMX_SKIP_EMULATED(kNoReading);
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const protocol::Segment piece{static_cast<std::byte*>(page), 4096};
  a->send_region(b.place(), 7, 44, {&piece, 1});
  b.turn();
  EXPECT_TRUE(read(b, 44, 0, 4096));
  ::munmap(page, 4096);
  EXPECT_FALSE(read(b, 44, 0, 4096));
}

TEST_F(Direct, switched_off) {
  Site c({kNic, 4}, false);
  const protocol::Segment piece{memory.data(), 100};
  a->send_region(c.place(), 7, 42, {&piece, 1});
  c.turn();
  EXPECT_FALSE(read(c, 42, 0, 100));
}

// --- a peer in another process -----------------------------------------------------------------------------

// Sends `count` frames and a region from another process, then stays until it is killed.
class Peer {
 public:
  Peer(const Place& from, const Place& to, std::uint64_t count) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const std::string parent = std::to_string(::getpid());
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      HubOptions options;
      options.self = from;
      options.nics = {kNic, kOtherNic};
      OwnFd connection(g_connection);
      options.connect = [&](const Place&) { return std::move(connection); };
      Hub hub(std::move(options));
      for (std::uint64_t i = 0; i < count; i++) {
        const Bytes bytes = frame(from, to, i, 100);
        const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
        hub.send({&piece, 1});
      }
      static Bytes data(50'000);
      random_fill(data, 77);
      const protocol::Segment piece{data.data(), static_cast<std::uint32_t>(data.size())};
      hub.send_region(to, 1, 1, {&piece, 1});
      const char byte = 1;
      if (::write(ready[1], &byte, 1) == 1)
        for (;;) ::pause();
      ::_exit(1);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  ~Peer() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    signal_child(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

  // The child's name would hold another process number. This is no OwnFd, because a forked child loses
  // those.
  static inline int g_connection = -1;

 private:
  pid_t pid_ = -1;
};

TEST_F(HubTest, another_process__frames_one_copy_and_its_end) {
  const Place place{kNic, 9};
  {
    const OwnFd connection = socket_to(b.place());
    Peer::g_connection = ::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0);
  }
  Peer peer(place, b.place(), 20);
  ::close(Peer::g_connection);
  b.turn();
  ASSERT_EQ(b.frames.size(), 20U);
  for (std::uint64_t i = 0; i < 20; i++) EXPECT_EQ(b.frames[i], frame(place, b.place(), i, 100));
  Bytes expected(50'000), out(50'000);
  random_fill(expected, 77);
  const protocol::Segment to{out.data(), 50'000};
  const bool read = b->read(place.nic, place.endpoint, 1, 1, 0, {&to, 1}, 50'000);
  // If processes may not read each other, the test can see nothing more.
  if (read) {
    EXPECT_EQ(out, expected);
  }
  peer.kill();
  b.turn();
  b.turn();
  ASSERT_EQ(b.gone.size(), 1U);
  EXPECT_EQ(b.gone[0], place);
  EXPECT_FALSE(b->read(place.nic, place.endpoint, 1, 1, 0, {&to, 1}, 50'000));
}

// Makes process_vm_readv() fail from now on, as in a container that forbids it.
bool reading_forbid() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs `body` in a forked process. Returns what it wrote to stderr, and whether it returned true.
template <class Body>
std::pair<bool, std::string> in_child(Body body) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    ::close(pipe[1]);
    ::_exit(body() ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string text;
  char part[512];
  for (ssize_t n; (n = ::read(pipe[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  ::close(pipe[0]);
  int status = 0;
  const bool ended = ::waitpid(pid, &status, 0) == pid && WIFEXITED(status);
  return {ended && WEXITSTATUS(status) == 0, text};
}

// Makes two peers. Returns whether neither can be read.
bool nothing_readable(bool direct) {
  Site reader({kNic, 20}, direct), one({kNic, 21}), two({kNic, 22});
  Bytes data(100), out(100);
  const protocol::Segment from{data.data(), 100}, to{out.data(), 100};
  bool readable = false;
  for (Site* site : {&one, &two}) {
    (*site)->send_region(reader.place(), 1, 1, {&from, 1});
    reader.turn();
    readable |= reader->read(kNic, site->place().endpoint, 1, 1, 0, {&to, 1}, 100);
  }
  return !readable;
}

TEST_F(HubTest, refused_memory__is_told_once_with_the_remedy) {
  OMX_SKIP_EMULATED("has no filter of system calls, by which the test refuses it");
  const auto [good, text] = in_child([] { return reading_forbid() && nothing_readable(true); });
  EXPECT_TRUE(good);
  EXPECT_THAT(text, HasSubstr("two copies"));
  EXPECT_THAT(text, HasSubstr("SYS_PTRACE"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(HubTest, refused_memory__is_no_news_where_one_copy_is_switched_off) {
  const auto [good, text] = in_child([] { return nothing_readable(false); });
  EXPECT_TRUE(good);
  EXPECT_EQ(text, "");
}

TEST(memory_remedy, names_what_is_lacking) {
  EXPECT_THAT(memory_remedy(EPERM), testing::HasSubstr("kernel.yama.ptrace_scope=0"));
  EXPECT_THAT(memory_remedy(EACCES), testing::HasSubstr("seccomp profile"));
  EXPECT_THAT(memory_remedy(ENOSYS), testing::HasSubstr("CONFIG_CROSS_MEMORY_ATTACH"));
  EXPECT_THAT(memory_remedy(ESRCH), testing::HasSubstr("--pid=host"));
}

// --- fork --------------------------------------------------------------------------------------------------

TEST_F(HubTest, fork__a_child_does_not_have_the_ring) {
  OMX_SKIP_EMULATED("ignores MADV_DONTFORK");
  SharedMemory memory = SharedMemory::create(8192);
  ASSERT_TRUE(memory.mapped());
  const pid_t pid = ::fork();
  if (pid == 0) {
    unsigned char present;
    ::_exit(::mincore(memory.data(), 4096, &present) < 0 && errno == ENOMEM ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace omx::local
