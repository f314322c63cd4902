// SPDX-License-Identifier: BSD-3-Clause
// Writes eBPF instructions. Jumps go forward to labels, whose places are set later.
#pragma once

#include <linux/bpf.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace omx::broker {

using EbpfProgram = std::vector<bpf_insn>;

class EbpfCode {
 public:
  // r0: results. r1 to r5: arguments, which a call destroys. r6 to r9: kept. r10: end of the stack frame.
  enum Register : std::uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 };
  enum Size : std::uint8_t { byte = BPF_B, half = BPF_H, word = BPF_W, dword = BPF_DW };
  using Label = std::size_t;

  void move(Register to, Register from) { add(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
  void move(Register to, std::int32_t value) { add(BPF_ALU64 | BPF_MOV | BPF_K, to, r0, 0, value); }
  void move_wide(Register to, std::uint64_t value) { add_wide(to, 0, value); }
  // `operation`: BPF_ADD, BPF_MUL, BPF_RSH ... on 64 bits.
  void calculate(std::uint8_t operation, Register to, Register from) {
    add(BPF_ALU64 | operation | BPF_X, to, from, 0, 0);
  }
  void calculate(std::uint8_t operation, Register to, std::int32_t value) {
    add(BPF_ALU64 | operation | BPF_K, to, r0, 0, value);
  }
  // Clears the upper 32 bits of the register, too.
  void and_word(Register to, std::uint32_t bits) {
    add(BPF_ALU | BPF_AND | BPF_K, to, r0, 0, static_cast<std::int32_t>(bits));
  }

  void load(Size size, Register to, Register base, std::size_t offset) {
    add(BPF_LDX | BPF_MEM | size, to, base, near(static_cast<int>(offset)), 0);
  }
  void store(Size size, Register base, std::size_t offset, Register from) {
    add(BPF_STX | BPF_MEM | size, base, from, near(static_cast<int>(offset)), 0);
  }
  void load_stack(Size size, Register to, int offset) {
    add(BPF_LDX | BPF_MEM | size, to, r10, near(offset), 0);
  }
  void store_stack(Size size, int offset, Register from) {
    add(BPF_STX | BPF_MEM | size, r10, from, near(offset), 0);
  }
  void store_stack(Size size, int offset, std::int32_t value) {
    add(BPF_ST | BPF_MEM | size, r10, r0, near(offset), value);
  }
  void stack_address(Register to, int offset) {
    move(to, r10);
    calculate(BPF_ADD, to, offset);
  }
  // Loads from the frame into r0, in host order, as classic programs do: r6 is the context, r1 to r5 are
  // destroyed, and beyond the frame's end the program returns 0.
  void load_frame(Size size, std::uint32_t at) {
    add(BPF_LD | BPF_ABS | size, r0, r0, 0, static_cast<std::int32_t>(at));
  }

  void atomic_add(Register base, std::size_t offset, Register from) {
    add(BPF_STX | BPF_ATOMIC | BPF_DW, base, from, near(static_cast<int>(offset)), BPF_ADD);
  }
  // Stores `from` if the value in memory is r0. Sets r0 to the value that was there.
  void compare_exchange(Register base, std::size_t offset, Register from) {
    add(BPF_STX | BPF_ATOMIC | BPF_DW, base, from, near(static_cast<int>(offset)), BPF_CMPXCHG);
  }

  void map(Register to, int fd) { add_wide(to, BPF_PSEUDO_MAP_FD, static_cast<std::uint32_t>(fd)); }
  // Sets the register to the address of the value of an array map that has one entry.
  void map_value(Register to, int fd, std::uint32_t offset) {
    add_wide(to, BPF_PSEUDO_MAP_VALUE, std::uint64_t{offset} << 32 | static_cast<std::uint32_t>(fd));
  }
  void call(bpf_func_id helper) { add(BPF_JMP | BPF_CALL, r0, r0, 0, helper); }
  void exit() { add(BPF_JMP | BPF_EXIT, r0, r0, 0, 0); }
  void exit_with(std::int32_t result) {
    move(r0, result);
    exit();
  }

  Label label() {
    places_.push_back(kNoPlace);
    return places_.size() - 1;
  }
  void place(Label label) {
    assert(places_[label] == kNoPlace);
    places_[label] = code_.size();
  }
  void jump(Label to) { add_jump(BPF_JMP | BPF_JA, r0, r0, 0, to); }
  // `condition`: BPF_JEQ, BPF_JNE, BPF_JGT, ... on 64 bits without sign; the value is sign-extended.
  void jump_if(Register left, std::uint8_t condition, Register right, Label to) {
    add_jump(BPF_JMP | condition | BPF_X, left, right, 0, to);
  }
  void jump_if(Register left, std::uint8_t condition, std::int32_t value, Label to) {
    add_jump(BPF_JMP | condition | BPF_K, left, r0, value, to);
  }
  void jump_if_word(Register left, std::uint8_t condition, std::uint32_t value, Label to) {
    add_jump(BPF_JMP32 | condition | BPF_K, left, r0, static_cast<std::int32_t>(value), to);
  }

  // Resolves the labels and returns the instructions.
  EbpfProgram take() {
    for (const Jump& jump : jumps_) {
      assert(places_[jump.to] != kNoPlace);
      code_[jump.from].off = near(static_cast<int>(places_[jump.to]) - static_cast<int>(jump.from) - 1);
    }
    jumps_.clear();
    return std::move(code_);
  }

 private:
  static constexpr std::size_t kNoPlace = SIZE_MAX;
  struct Jump {
    std::size_t from;
    Label to;
  };

  static std::int16_t near(int offset) {
    assert(offset >= INT16_MIN && offset <= INT16_MAX);
    return static_cast<std::int16_t>(offset);
  }
  void add(int code, Register dst, Register src, std::int16_t offset, std::int32_t value) {
    bpf_insn line{};
    line.code = static_cast<std::uint8_t>(code);
    line.dst_reg = dst & 0xFU;
    line.src_reg = src & 0xFU;
    line.off = offset;
    line.imm = value;
    code_.push_back(line);
  }
  void add_jump(int code, Register dst, Register src, std::int32_t value, Label to) {
    jumps_.push_back({code_.size(), to});
    add(code, dst, src, 0, value);
  }
  // Adds an instruction with a value of 64 bits, which takes two lines.
  void add_wide(Register to, std::uint8_t kind, std::uint64_t value) {
    constexpr int kLoadImmediate = BPF_LD | BPF_DW;  // BPF_IMM is 0
    add(kLoadImmediate, to, static_cast<Register>(kind), 0, static_cast<std::int32_t>(value));
    add(0, r0, r0, 0, static_cast<std::int32_t>(value >> 32));
  }

  EbpfProgram code_;
  std::vector<std::size_t> places_;  // of labels
  std::vector<Jump> jumps_;
};

}  // namespace omx::broker
