// SPDX-License-Identifier: BSD-3-Clause
// Tests of AF_XDP over a virtual cable, in generic and native mode.
#include <linux/if_xdp.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/bytes.h"
#include "base/own_fd.h"
#include "tests/support/allocation_count.h"
#include "wire/packets.h"
#include "xdp_network.h"

namespace omx::link {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kOnePiece = 3840;

class xdp_link : public XdpTest, public testing::WithParamInterface<XdpMode> {
 protected:
  std::unique_ptr<Transport> open(const std::string& interface, std::uint8_t endpoint = 0,
                                  XdpLinkOptions options = {}) {
    options.mode = GetParam();
    options.packets.endpoint = endpoint;
    return XdpTest::open(interface, options);
  }
};

INSTANTIATE_TEST_SUITE_P(modes, xdp_link, testing::Values(XdpMode::copy, XdpMode::generic),
                         [](const auto& mode) { return std::string(xdp_mode_name(mode.param)); });

TEST_P(xdp_link, open__attaches_and_leaves_nothing) {
  {
    auto link = open("v0");
    EXPECT_EQ(link->interface().nic(), nic_of("v0"));
    EXPECT_EQ(link->interface().mtu(), 1500U);
    EXPECT_TRUE(link->interface().refresh());
    const XdpPresent present = programs_of("v0");
    EXPECT_EQ(present.native != 0, GetParam() == XdpMode::copy);
    EXPECT_EQ(present.generic != 0, GetParam() == XdpMode::generic);
  }
  EXPECT_FALSE(programs_of("v0").any());
}

TEST_P(xdp_link, send__arrives_by_xdp_unchanged) {
  auto a = open("v0");
  auto b = open("v1");
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 100);
  EXPECT_FALSE(b->pending());
  frame_send(*a, frame);
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, 1));
  EXPECT_EQ(got.frames[0], frame);
  EXPECT_EQ(a->counters().frames_sent, 1U);
  EXPECT_EQ(a->counters().bytes_sent, 100U);
  EXPECT_EQ(b->counters().frames_received, 1U);
  EXPECT_EQ(b->counters().frames_by_xdp, 1U);
  EXPECT_FALSE(b->pending());
}

TEST_P(xdp_link, send__short_frames_are_padded_with_zeros) {
  auto a = open("v0");
  auto b = open("v1");
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 300));
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 41);
  frame_send(*a, frame);
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, 2));
  Bytes expected = frame;
  expected.resize(60);
  EXPECT_EQ(got.frames[1], expected);
}

TEST_P(xdp_link, send__more_than_all_memory_holds_in_order) {
  auto a = open("v0");
  auto b = open("v1");
  constexpr std::size_t kRound = 200, kRounds = 100;  // with 1024 pieces to send and 4096 to receive
  Collector got;
  for (std::size_t round = 0; round < kRounds; round++) {
    std::vector<Bytes> frames;
    for (std::size_t i = 0; i < kRound; i++)
      frames.push_back(make_frame(b->interface().nic(), a->interface().nic(), 60 + 7 * i, 39, 0,
                                  static_cast<std::uint8_t>(i)));
    for (const Bytes& frame : frames) frame_queue(*a, frame);
    a->flush();
    got.frames.clear();
    ASSERT_TRUE(receive_until(*b, got, kRound)) << round << ": " << got.frames.size();
    ASSERT_EQ(got.frames, frames);
  }
  EXPECT_EQ(b->counters().frames_by_xdp, kRound * kRounds);
  EXPECT_EQ(a->counters().send_errors, 0U);
  EXPECT_EQ(b->counters().ring_drops, 0U);
}

TEST_P(xdp_link, receive__a_full_ring_drops_and_goes_on) {
  auto a = open("v0");
  auto b = open("v1", 0, {.packets = {.ring_frames = 64}});
  for (int i = 0; i < 1000; i++) frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 64));
  Collector got;
  EXPECT_TRUE(receive_until(*b, got, 64));
  while (b->receive(got, 64) > 0) {
  }
  b->interface().refresh();
  EXPECT_EQ(got.frames.size() + b->counters().ring_drops, 1000U);
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 64));
  got.frames.clear();
  EXPECT_TRUE(receive_until(*b, got, 1));
}

TEST_P(xdp_link, receive__large_frames_in_pieces) {
  set_mtu(9000);
  auto a = open("v0");
  auto b = open("v1");
  ASSERT_EQ(b->interface().mtu(), 9000U) << "this kernel gives sockets no frames in several pieces";
  for (const std::size_t size : {kOnePiece - 1, kOnePiece, kOnePiece + 1, std::size_t{4096},
                                 std::size_t{4097}, 2 * kOnePiece, std::size_t{8192}, std::size_t{9014}}) {
    const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), size, 42 - 3);
    frame_send(*a, frame);
    Collector got;
    ASSERT_TRUE(receive_until(*b, got, 1)) << size;
    EXPECT_EQ(got.frames[0], frame) << size;
  }
  EXPECT_EQ(b->counters().frames_by_xdp, 8U);
}

TEST_P(xdp_link, receive__the_largest_frames) {
  set_mtu(65535);
  auto a = open("v0");
  auto b = open("v1");
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 65549);
  for (int i = 0; i < 100; i++) {
    frame_send(*a, frame);
    Collector got;
    ASSERT_TRUE(receive_until(*b, got, 1));
    ASSERT_EQ(got.frames[0], frame);
  }
}

TEST_P(xdp_link, mtu__is_capped_where_frames_come_in_one_piece) {
  set_mtu(9000);
  auto a = open("v0", 0, {.multi_buffer = false});
  auto b = open("v1", 0, {.multi_buffer = false});
  EXPECT_EQ(b->interface().mtu(), kOnePiece - 14);
  // From peers that did not ask for the size, larger frames arrive nevertheless.
  for (const std::size_t size : {kOnePiece, kOnePiece + 1, std::size_t{9014}}) {
    const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), size);
    frame_send(*a, frame);
    Collector got;
    ASSERT_TRUE(receive_until(*b, got, 1)) << size;
    EXPECT_EQ(got.frames[0], frame);
  }
  EXPECT_EQ(b->counters().frames_by_xdp, 1U);
  EXPECT_EQ(b->counters().frames_received, 3U);
}

TEST_P(xdp_link, receive__endpoints_of_a_process_come_and_go) {
  auto a = open("v0", 7);
  auto first = open("v1", 1);
  for (int round = 0; round < 40; round++) {
    auto second = open("v1", 2);
    auto third = open("v1", 3);
    for (int i = 0; i < 64; i++) {
      for (const std::uint8_t endpoint : {1, 2, 3})
        frame_queue(*a, make_frame(first->interface().nic(), a->interface().nic(), 100, 37, endpoint));
    }
    a->flush();
    if (round % 2) second.reset();  // with frames in its ring
    Collector got;
    ASSERT_TRUE(receive_until(*first, got, 64)) << round;
    ASSERT_TRUE(receive_until(*third, got, 128)) << round;
    if (second) {
      ASSERT_TRUE(receive_until(*second, got, 192)) << round;
    }
  }
  EXPECT_EQ(first->counters().frames_by_xdp, 40U * 64);
}

TEST_P(xdp_link, receive__what_is_not_for_the_endpoint_passes) {
  auto a = open("v0");
  auto b = open("v1");
  auto packets = CableTest::open("v1", {.endpoint = 9});
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100, 37, 9));
  frame_send(*a, make_frame(b->interface().nic() ^ 2, a->interface().nic(), 100));  // for another host
  frame_send(*a, make_frame(kBroadcastNic, a->interface().nic(), 64, 1));
  Collector got, others;
  ASSERT_TRUE(receive_until(*packets, others, 2));
  EXPECT_EQ(others.frames[0].size(), 100U);
  ASSERT_TRUE(receive_until(*b, got, 1));
  EXPECT_EQ(got.frames[0].size(), 64U);
  EXPECT_EQ(b->counters().frames_by_xdp, 0U);
}

// Each field that may name the endpoint names a different one.
TEST_P(xdp_link, program__agrees_with_the_decoder) {
  auto a = open("v0");
  std::unique_ptr<Transport> links[] = {open("v1", 5), open("v1", 6), open("v1", 7)};
  for (unsigned type = 0; type < 256; type++) {
    Bytes frame = make_frame(links[0]->interface().nic(), a->interface().nic(), 100,
                             static_cast<std::uint8_t>(type), 5);
    store8(&frame[25], 6);
    store_be32(&frame[28], wire::kPullMagic ^ 7);
    const int endpoint = wire::destination_endpoint(frame);
    std::uint64_t before[3];
    for (int i = 0; i < 3; i++) before[i] = links[i]->counters().frames_by_xdp;
    frame_send(*a, frame);
    // The second frame follows in the same queue. When it has come, the first one has, too.
    frame_send(*a, make_frame(links[0]->interface().nic(), a->interface().nic(), 100, 37, 5));
    Collector got, others;
    ASSERT_TRUE(receive_until(*links[0], got, 1));
    while (links[0]->receive(got, 64) > 0) {
    }
    for (int i = 0; i < 3; i++) {
      links[i]->receive(others, 64);
      const std::uint64_t mark = i == 0 ? 1 : 0;
      const std::uint64_t expected = endpoint == 5 + i ? 1 : 0;
      EXPECT_EQ(links[i]->counters().frames_by_xdp - before[i], expected + mark)
          << type << ", endpoint " << 5 + i;
    }
  }
}

TEST_P(xdp_link, receive__the_nic_gets_another_address) {
  auto a = open("v0");
  auto b = open("v1");
  ip("link set v1 down address 02:00:00:00:00:77 up");
  ASSERT_TRUE(becomes_true([&] { return b->interface().refresh() && a->interface().refresh(); }));
  EXPECT_EQ(b->interface().nic(), 0x020000000077U);
  Collector got;
  EXPECT_TRUE(becomes_true([&] {
    frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100));
    b->receive(got, 64);
    return b->counters().frames_by_xdp > 0;
  }));
}

TEST_P(xdp_link, descriptor__wakes_for_either_kind) {
  auto a = open("v0");
  auto b = open("v1");
  const auto wakes = [](int fd) {
    pollfd wait{fd, POLLIN, 0};
    return ::poll(&wait, 1, 5000) == 1 && wait.revents == POLLIN;
  };
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100));
  EXPECT_TRUE(wakes(b->descriptor()));
  frame_send(*a, make_frame(kBroadcastNic, a->interface().nic(), 64, 1));
  EXPECT_TRUE(wakes(b->bulk_path()->descriptor()));
  Collector got;
  EXPECT_TRUE(receive_until(*b, got, 2));
  pollfd wait[2] = {{b->descriptor(), POLLIN, 0}, {b->bulk_path()->descriptor(), POLLIN, 0}};
  EXPECT_EQ(::poll(wait, 2, 0), 0);
}

TEST_P(xdp_link, receive__with_busy_polling) {
  auto a = open("v0", 0, {.busy_poll = true});
  auto b = open("v1", 0, {.busy_poll = true});
  for (int i = 0; i < 100; i++) {
    frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100));
    Collector got;
    ASSERT_TRUE(receive_until(*b, got, 1));
  }
}

TEST_P(xdp_link, outage__frames_pass_again_afterwards) {
  auto a = open("v0");
  auto b = open("v1");
  ip("link set v1 down");
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100));
  EXPECT_TRUE(becomes_true([&] { return !b->interface().refresh(); }));
  ip("link set v1 up");
  ASSERT_TRUE(becomes_true([&] { return b->interface().refresh() && a->interface().refresh(); }));
  Collector got;
  EXPECT_TRUE(becomes_true([&] {
    frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 200));
    b->receive(got, 64);
    return !got.frames.empty();
  }));
}

TEST_P(xdp_link, outage__an_interface_that_is_deleted) {
  auto a = open("v0");
  auto b = open("v1");
  ip("link del v0");
  EXPECT_FALSE(b->interface().refresh());
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100));
  Collector got;
  EXPECT_EQ(b->receive(got, 64), 0U);
}

TEST_P(xdp_link, program__taken_off_by_others_frames_go_on) {
  auto a = open("v0");
  auto b = open("v1", 4);
  // A program that a link holds cannot be detached by name, but the table can lose its entry.
  auto same = XdpAttachment::take("v1", ::if_nametoindex("v1"), GetParam());
  ASSERT_TRUE(same) << same.error().message;
  same->endpoint_clear(0, 4);
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100, 37, 4));
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, 1));
  EXPECT_EQ(b->counters().frames_by_xdp, 0U);
}

TEST_P(xdp_link, queue__of_another_process_falls_back_to_a_packet_socket) {
  const XdpMode mode = GetParam();
  OtherProcess other([mode] {
    static auto held = attempt("v1", {.mode = mode});
    return held.has_value();
  });
  auto a = open("v0");
  testing::internal::CaptureStderr();
  auto b = open("v1", 5);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("v1 endpoint 5"), HasSubstr("other processes"), HasSubstr("packet socket")));
  Collector got;
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100, 37, 5));
  ASSERT_TRUE(receive_until(*b, got, 1));
  EXPECT_EQ(b->counters().frames_by_xdp, 0U);
  // A killed process leaves nothing behind, and the next process has the whole interface.
  EXPECT_TRUE(programs_of("v1").any());
  other.end();
  EXPECT_TRUE(becomes_true([] { return !programs_of("v1").any(); }));
  auto c = open("v1", 6);
  frame_send(*a, make_frame(c->interface().nic(), a->interface().nic(), 100, 37, 6));
  ASSERT_TRUE(receive_until(*c, got, 2));
  EXPECT_EQ(c->counters().frames_by_xdp, 1U);
}

TEST_P(xdp_link, queue__of_a_process_that_has_just_ended_is_waited_for) {
  const XdpLinkOptions options{.mode = GetParam(), .packets = {.interface = "v1"}};
  for (int i = 0; i < 8; i++) {
    OtherProcess killed([&] {
      static auto held = xdp_link_open(options);
      return held.has_value();
    });
    killed.end();
    for (int j = 0; j < 2; j++) {  // the second trial comes after our own first one
      const auto trial = xdp_trial(options);
      ASSERT_TRUE(trial) << trial.error().message;
    }
  }
}

// Makes what the kernel still holds of a process that has ended.
OwnFd bare_socket_on(const char* interface) {
  constexpr std::size_t kChunk = 4096;
  alignas(kChunk) static std::byte memory[2 * kChunk];
  OwnFd fd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  xdp_umem_reg umem{};
  umem.addr = reinterpret_cast<std::uintptr_t>(memory);
  umem.len = sizeof memory;
  umem.chunk_size = kChunk;
  const int entries = 2;
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = ::if_nametoindex(interface);
  address.sxdp_flags = XDP_COPY;
  const bool made =
      ::setsockopt(fd.get(), SOL_XDP, XDP_UMEM_REG, &umem, sizeof umem) == 0 &&
      ::setsockopt(fd.get(), SOL_XDP, XDP_UMEM_FILL_RING, &entries, sizeof entries) == 0 &&
      ::setsockopt(fd.get(), SOL_XDP, XDP_UMEM_COMPLETION_RING, &entries, sizeof entries) == 0 &&
      ::setsockopt(fd.get(), SOL_XDP, XDP_RX_RING, &entries, sizeof entries) == 0 && becomes_true([&] {
        return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
      });
  EXPECT_TRUE(made) << std::strerror(errno);
  return fd;
}

// Other processes had the queue before. That says nothing about it once they are gone.
TEST_P(xdp_link, queue__of_a_process_that_has_just_ended_is_waited_for_after_a_wait_in_vain) {
  const XdpLinkOptions options{.mode = GetParam(), .packets = {.interface = "v1"}};
  {
    OtherProcess other([&] {
      static auto held = xdp_link_open(options);
      return held.has_value();
    });
    EXPECT_FALSE(xdp_trial(options));
  }
  OwnFd rest = bare_socket_on("v1");
  ASSERT_FALSE(programs_of("v1").any());
  std::jthread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    rest.reset();
  });
  const auto trial = xdp_trial(options);
  EXPECT_TRUE(trial) << trial.error().message;
}

TEST_P(xdp_link, queue__one_each_and_the_program_stays_with_the_last) {
  if (std::system("ip link del v0; ip link add v0 numrxqueues 2 numtxqueues 2 type veth peer name v1 "
                  "numrxqueues 2 numtxqueues 2") != 0)
    GTEST_SKIP() << "no veth with two queues";
  set_mtu(1500);
  const XdpMode mode = GetParam();
  OtherProcess other([mode] {
    static auto held = attempt("v1", {.mode = mode});
    return held.has_value();
  });
  auto a = open("v0", 0, {.queue = 1});
  auto b = open("v1", 5);
  Collector got;
  // In native mode a veth keeps the number of the queue. Otherwise frames arrive at queue 0, which is not
  // ours.
  const std::uint64_t by_xdp = GetParam() == XdpMode::generic ? 0 : 1;
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100, 37, 5));
  ASSERT_TRUE(receive_until(*b, got, 1));
  EXPECT_EQ(b->counters().frames_by_xdp, by_xdp);
  other.end();
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 100, 37, 5));
  ASSERT_TRUE(receive_until(*b, got, 2));
  EXPECT_EQ(b->counters().frames_by_xdp, 2 * by_xdp);
  EXPECT_TRUE(programs_of("v1").any());
  b.reset();
  EXPECT_TRUE(becomes_true([] { return !programs_of("v1").any(); }));
}

TEST_P(xdp_link, fork__a_child_keeps_nothing) {
  auto link = open("v1");
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe_ends[1]);
    char byte = 0;
    (void)!::read(pipe_ends[0], &byte, 1);
    ::_exit(0);
  }
  link.reset();
  EXPECT_TRUE(becomes_true([] { return !programs_of("v1").any(); }));
  ::close(pipe_ends[1]);
  ::close(pipe_ends[0]);
  ::waitpid(child, nullptr, 0);
}

TEST_P(xdp_link, receive__allocates_nothing) {
  auto a = open("v0");
  auto b = open("v1");
  struct Counter : FrameHandler {
    void on_frame(wire::Frame) override { frames++; }
    std::size_t frames = 0;
  } counter;
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 1000);
  const auto pass = [&] {
    const std::size_t until = counter.frames + 100;
    for (int i = 0; i < 100; i++) frame_queue(*a, frame);
    a->flush();
    return becomes_true([&] {
      b->receive(counter, 64);
      return counter.frames >= until;
    });
  };
  ASSERT_TRUE(pass());
  const std::uint64_t before = omx::test::allocation_count();
  ASSERT_TRUE(pass());
  EXPECT_EQ(omx::test::allocation_count(), before);
}

}  // namespace
}  // namespace omx::link
