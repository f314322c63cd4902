// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/ebpf_code.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "netdev/bpf_call.h"
#include "tools/broker/kernel/ebpf_load.h"

namespace omx::broker {
namespace {

using enum EbpfCode::Register;
using enum EbpfCode::Size;

TEST(ebpf_code, jumps__lead_to_their_labels) {
  EbpfCode c;
  const auto first = c.label(), second = c.label();
  c.jump_if(r1, BPF_JEQ, 5, second);
  c.jump(first);
  c.exit();
  c.place(first);
  c.exit();
  c.place(second);
  c.exit();
  const EbpfProgram program = c.take();
  ASSERT_EQ(program.size(), 5U);
  EXPECT_EQ(program[0].off, 3);
  EXPECT_EQ(program[0].imm, 5);
  EXPECT_EQ(program[1].off, 1);
}

TEST(ebpf_code, wide_values__take_two_lines) {
  EbpfCode c;
  const auto end = c.label();
  c.jump(end);
  c.move_wide(r3, 0x1122334455667788ULL);
  c.map_value(r4, 9, 4);
  c.place(end);
  c.exit();
  const EbpfProgram program = c.take();
  ASSERT_EQ(program.size(), 6U);
  EXPECT_EQ(program[0].off, 4);
  EXPECT_EQ(program[1].imm, 0x55667788);
  EXPECT_EQ(program[2].imm, 0x11223344);
  EXPECT_EQ(program[3].src_reg, BPF_PSEUDO_MAP_VALUE);
  EXPECT_EQ(program[3].imm, 9);
  EXPECT_EQ(program[4].imm, 4);
}

// Runs a program in the kernel.
std::uint32_t run(const EbpfProgram& program, std::uint32_t& result) {
  const auto fd = ebpf_load({"omx_test", BPF_PROG_TYPE_SCHED_CLS, {}}, program);
  if (!fd) return EPERM;
  std::array<char, 64> frame{};
  bpf_attr a{};
  a.test.prog_fd = static_cast<std::uint32_t>(fd->get());
  a.test.data_in = reinterpret_cast<std::uintptr_t>(frame.data());
  a.test.data_size_in = frame.size();
  if (link::bpf_call(BPF_PROG_TEST_RUN, a) < 0) return static_cast<std::uint32_t>(errno);
  result = a.test.retval;
  return 0;
}

TEST(ebpf_code, kernel__calculates_and_exchanges) {
  EbpfCode c;
  const auto end = c.label();
  c.move(r0, 0);
  c.store_stack(dword, -8, r0);
  c.move(r1, 7);
  c.atomic_add(r10, static_cast<std::size_t>(-8), r1);
  c.load_stack(dword, r0, -8);
  c.move(r1, 1000);
  c.calculate(BPF_MUL, r1, r0);
  c.compare_exchange(r10, static_cast<std::size_t>(-8), r1);  // 7 becomes 7000
  c.load_stack(dword, r0, -8);
  c.jump_if(r0, BPF_JEQ, 7000, end);
  c.exit_with(-1);
  c.place(end);
  c.calculate(BPF_RSH, r0, 3);
  c.exit();
  std::uint32_t result = 0;
  if (const std::uint32_t error = run(c.take(), result))
    GTEST_SKIP() << "no eBPF here: " << std::strerror(static_cast<int>(error));
  EXPECT_EQ(result, 7000U >> 3);
}

TEST(ebpf_load, refused__the_failure_says_why) {
  EbpfCode c;
  c.load(word, r0, r5, 0);  // r5 was never written
  c.exit();
  const auto fd = ebpf_load({"omx_test", BPF_PROG_TYPE_SCHED_CLS, {}}, c.take());
  ASSERT_FALSE(fd);
  if (fd.error().mx_code == 7) GTEST_SKIP() << fd.error().message;
  EXPECT_NE(fd.error().message.find("refuses the program omx_test"), std::string::npos) << fd.error().message;
  EXPECT_NE(fd.error().message.find("R5 !read_ok"), std::string::npos) << fd.error().message;
}

}  // namespace
}  // namespace omx::broker
