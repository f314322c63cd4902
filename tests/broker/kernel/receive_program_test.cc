// SPDX-License-Identifier: BSD-3-Clause
// Tests of the receive program, which the kernel runs on a Unix socket.
#include "tools/broker/kernel/receive_program.h"

#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/bytes.h"
#include "kernel_needs.h"
#include "tools/broker/kernel/classic_translate.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/frame_bytes.h"
#include "wire/packets.h"

namespace omx::broker {
namespace {

using link::FilterProgram;
using link::FrameClass;
using Bytes = std::vector<std::byte>;

constexpr std::uint8_t kEndpoint = 9;

// Two ends, of which the second has a program.
class Gate {
 public:
  Gate() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    in_ = OwnFd(ends[0]);
    out_ = OwnFd(ends[1]);
  }
  void attach(const FilterProgram& filter) { EXPECT_EQ(link::packet_filter_attach(out_.get(), filter), 0); }
  void attach(const OwnFd& program) {
    const int fd = program.get();
    EXPECT_EQ(::setsockopt(out_.get(), SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof fd), 0);
  }
  bool passes(const Bytes& frame) {
    std::array<std::byte, 2048> buffer;
    ::send(in_.get(), frame.data(), frame.size(), 0);
    const ssize_t got = ::recv(out_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return false;
    EXPECT_EQ(static_cast<std::size_t>(got), frame.size()) << "the program must not cut";
    return true;
  }

 private:
  OwnFd in_, out_;
};

// Every byte that any filter reads has this endpoint, or all have the flags of a solicited frame.
Bytes frame_of(unsigned type, std::uint8_t endpoint, std::uint8_t flags, std::size_t size = 60) {
  Bytes frame(60);
  store_be16(&frame[12], wire::kEthertype);
  store8(&frame[15], flags);
  store8(&frame[16], static_cast<std::uint8_t>(type));
  store8(&frame[17], endpoint);
  store8(&frame[19], flags);
  store8(&frame[25], endpoint);
  store_be32(&frame[28], wire::kPullMagic ^ endpoint);
  frame.resize(size);
  return frame;
}

Expected<OwnFd, std::string> translated_load(const FilterProgram& filter) {
  EbpfCode c;
  c.move(EbpfCode::r6, EbpfCode::r1);
  if (!classic_translate(c, filter)) return tl::unexpected<std::string>("not translated");
  auto loaded = ebpf_load({"omx_test", BPF_PROG_TYPE_SOCKET_FILTER, {}}, c.take());
  if (!loaded) return tl::unexpected(loaded.error().message);
  return std::move(*loaded);
}

TEST(classic_translate, every_filter__does_what_the_classic_one_does) {
  for (const FrameClass frames :
       {FrameClass::all, FrameClass::eager, FrameClass::bulk, FrameClass::solicited}) {
    for (const bool board : {false, true}) {
      link::FilterRule rule{.endpoint = kEndpoint, .board_frames = board};
      rule.frames = frames;
      const FilterProgram filter = link::packet_filter_build(rule);
      const auto program = translated_load(filter);
      if (!program && program.error().find("permitted") != std::string::npos) GTEST_SKIP() << program.error();
      ASSERT_TRUE(program) << program.error();
      Gate classic, translated;
      classic.attach(filter);
      translated.attach(*program);
      for (unsigned type = 0; type < 256; type++)
        for (const std::uint8_t endpoint : {kEndpoint, std::uint8_t{10}, std::uint8_t{137}})
          for (const std::uint8_t flags : {0, 1, 254})
            for (const std::size_t size : {60, 32, 20, 17, 16, 14}) {
              const Bytes frame = frame_of(type, endpoint, flags, size);
              ASSERT_EQ(translated.passes(frame), classic.passes(frame))
                  << static_cast<int>(frames) << " type " << type << " for " << +endpoint << " flags "
                  << +flags << " size " << size;
            }
    }
  }
}

TEST(classic_translate, instructions_that_no_filter_uses__are_refused) {
  const FilterProgram end = {BPF_STMT(BPF_RET | BPF_K, 0)};
  for (const sock_filter line :
       {sock_filter BPF_STMT(BPF_LD | BPF_IND | BPF_B, 0), sock_filter BPF_STMT(BPF_LD | BPF_MEM, 0),
        sock_filter BPF_STMT(BPF_RET | BPF_A, 0), sock_filter BPF_STMT(BPF_MISC | BPF_TAX, 0),
        sock_filter BPF_STMT(BPF_LD | BPF_ABS | BPF_W, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_MARK)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 9)}) {
    FilterProgram filter = {line};
    filter.insert(filter.end(), end.begin(), end.end());
    EbpfCode c;
    EXPECT_FALSE(classic_translate(c, filter)) << std::hex << line.code;
  }
  EbpfCode none, endless;
  EXPECT_FALSE(classic_translate(none, {}));
  EXPECT_FALSE(classic_translate(endless, {BPF_STMT(BPF_LD | BPF_ABS | BPF_B, 0)}));
}

class ReceiveProgramTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kSlot = 17;
  static constexpr std::uint64_t kCookie = 0x1000000002ULL;

  void SetUp() override {
    auto maps = grant_maps_make();
    OMX_NEED(maps);
    maps_ = std::move(*maps);
    auto classes = classes_make();
    ASSERT_TRUE(classes) << classes.error().message;
    classes_ = std::move(*classes);
    void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, classes_.get(), 0);
    ASSERT_NE(page, MAP_FAILED);
    words_ = static_cast<Classes*>(page);
    endpoint_grant(kEndpoint);
  }
  void endpoint_grant(std::uint8_t endpoint) {
    Grant grant;
    grant.cookie = kCookie;
    grant.endpoint = endpoint;
    ASSERT_EQ(grant_write(maps_, kSlot, grant), 0);
  }
  void TearDown() override {
    if (words_) ::munmap(words_, 4096);
  }
  void attach(Gate& gate, std::size_t word, std::uint64_t cookie = kCookie) {
    // A Unix socket's frames come from no interface and have no protocol.
    const auto program = receive_program_load(maps_, classes_.get(), {kSlot, cookie, 0, word, 0});
    ASSERT_TRUE(program) << program.error().message;
    gate.attach(*program);
  }

  GrantMaps maps_;
  OwnFd classes_;
  Classes* words_ = nullptr;
};

const Bytes kMediumFrame = frame_of(39, kEndpoint, 0), kUrgentFrame = frame_of(39, kEndpoint, 1),
            kReplyFrame = frame_of(42, kEndpoint, 0);

TEST_F(ReceiveProgramTest, word__chooses_the_class) {
  Gate gate;
  attach(gate, offsetof(Classes, data));
  const auto passed = [&](std::uint32_t value) {
    words_->data = value;
    return std::array{gate.passes(kMediumFrame), gate.passes(kUrgentFrame), gate.passes(kReplyFrame)};
  };
  using Three = std::array<bool, 3>;
  EXPECT_EQ(passed(0), (Three{false, false, false}));
  EXPECT_EQ(passed(1), (Three{true, true, true}));
  EXPECT_EQ(passed(2), (Three{true, true, false}));
  EXPECT_EQ(passed(3), (Three{false, false, true}));
  EXPECT_EQ(passed(4), (Three{false, true, false}));
  for (const std::uint32_t value : {5U, 77U, 0x80000001U, 0xFFFFFFFFU})
    EXPECT_EQ(passed(value), (Three{false, false, false})) << value;
}

TEST_F(ReceiveProgramTest, words__each_is_for_its_socket) {
  Gate data, bulk, wakeup;
  attach(data, offsetof(Classes, data));
  attach(bulk, offsetof(Classes, bulk));
  attach(wakeup, offsetof(Classes, wakeup));
  *words_ = {2, 3, 4};
  EXPECT_TRUE(data.passes(kMediumFrame));
  EXPECT_FALSE(bulk.passes(kMediumFrame));
  EXPECT_FALSE(wakeup.passes(kMediumFrame));
  EXPECT_TRUE(bulk.passes(kReplyFrame));
  EXPECT_TRUE(wakeup.passes(kUrgentFrame));
}

TEST_F(ReceiveProgramTest, frames_for_others__never_pass) {
  Gate gate;
  attach(gate, offsetof(Classes, data));
  for (std::uint32_t value = 0; value < 8; value++) {
    words_->data = value;
    for (unsigned type = 0; type < 256; type++) {
      EXPECT_FALSE(gate.passes(frame_of(type, kEndpoint + 1, 1))) << type << " class " << value;
      EXPECT_FALSE(gate.passes(frame_of(type, kEndpoint ^ 0x80, 1))) << type << " class " << value;
    }
    for (const unsigned type : {1U, 3U, 4U}) EXPECT_FALSE(gate.passes(frame_of(type, kEndpoint, 1))) << type;
  }
}

TEST_F(ReceiveProgramTest, other_interface__nothing_passes) {
  Gate gate;
  const auto program =
      receive_program_load(maps_, classes_.get(), {kSlot, kCookie, 5, offsetof(Classes, data), 0});
  ASSERT_TRUE(program) << program.error().message;
  gate.attach(*program);
  words_->data = 1;
  EXPECT_FALSE(gate.passes(kMediumFrame));
}

TEST_F(ReceiveProgramTest, other_protocol__nothing_passes) {
  Gate gate;
  const auto program =
      receive_program_load(maps_, classes_.get(), {kSlot, kCookie, 0, offsetof(Classes, data)});
  ASSERT_TRUE(program) << program.error().message;
  gate.attach(*program);
  words_->data = 1;
  EXPECT_FALSE(gate.passes(kMediumFrame));
}

// One program serves whatever endpoint the grant has, and does what the classic filter for it does.
TEST_F(ReceiveProgramTest, endpoint_of_the_grant__as_the_classic_filter) {
  Gate gate;
  attach(gate, offsetof(Classes, data));
  const std::pair<ClassWord, FrameClass> classes[] = {{ClassWord::all, FrameClass::all},
                                                      {ClassWord::eager, FrameClass::eager},
                                                      {ClassWord::bulk, FrameClass::bulk},
                                                      {ClassWord::solicited, FrameClass::solicited}};
  for (const unsigned own : {0U, 1U, 9U, 126U, 127U, 128U, 254U, 255U}) {
    const auto endpoint = static_cast<std::uint8_t>(own);
    endpoint_grant(endpoint);
    for (const auto& [value, frames] : classes) {
      words_->data = static_cast<std::uint32_t>(value);
      link::FilterRule rule{.endpoint = endpoint, .board_frames = false};
      rule.frames = frames;
      Gate classic;
      classic.attach(link::packet_filter_build(rule));
      for (unsigned type = 0; type < 256; type++)
        for (const unsigned to : {own, own ^ 0x80, 126U, 254U, (own + 1) & 0xFF})
          for (const std::uint8_t flags : {0, 1}) {
            const Bytes frame = frame_of(type, static_cast<std::uint8_t>(to), flags);
            ASSERT_EQ(gate.passes(frame), classic.passes(frame)) << own << " type " << type << " for " << to;
          }
    }
  }
}

TEST_F(ReceiveProgramTest, shorter_than_any_packet__nothing_passes) {
  Gate gate;
  attach(gate, offsetof(Classes, data));
  words_->data = 1;
  EXPECT_TRUE(gate.passes(frame_of(39, kEndpoint, 0, kShortestPacket)));
  for (const std::size_t size : {31, 20, 18, 14})
    EXPECT_FALSE(gate.passes(frame_of(39, kEndpoint, 0, size))) << size;
}

TEST_F(ReceiveProgramTest, revoked__nothing_passes) {
  Gate gate, other;
  attach(gate, offsetof(Classes, data));
  attach(other, offsetof(Classes, data), kCookie + 1);  // whose slot has been given to another socket
  words_->data = 1;
  EXPECT_TRUE(gate.passes(kMediumFrame));
  EXPECT_FALSE(other.passes(kMediumFrame));
  ASSERT_EQ(grant_clear(maps_, kSlot), 0);
  EXPECT_FALSE(gate.passes(kMediumFrame));
}

}  // namespace
}  // namespace omx::broker
