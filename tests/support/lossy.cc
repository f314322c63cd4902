// SPDX-License-Identifier: BSD-3-Clause
#include "lossy.h"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace omx::link {

namespace {

constexpr std::uint32_t kTcxIngress = 46;  // BPF_TCX_INGRESS, which older headers lack
constexpr std::int32_t kPass = 0, kDrop = 2;
constexpr std::int32_t kRandom = 7;  // bpf_get_prandom_u32
constexpr std::uint64_t kAll = std::uint64_t{1} << 32;

bpf_insn instruction(std::uint8_t code, std::int16_t offset, std::int32_t value) {
  bpf_insn i{};
  i.code = code;
  i.off = offset;
  i.imm = value;
  return i;
}

int bpf(int command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

}  // namespace

OwnFd packets_lose(const std::string& interface, unsigned percent, std::string& reason) {
  const auto limit = static_cast<std::int32_t>(kAll / 100 * percent);
  const bpf_insn program[] = {
      instruction(BPF_JMP | BPF_CALL, 0, kRandom),        instruction(BPF_JMP | BPF_JGE | BPF_K, 2, limit),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, kDrop), instruction(BPF_JMP | BPF_EXIT, 0, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, kPass), instruction(BPF_JMP | BPF_EXIT, 0, 0),
  };
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  load.insns = reinterpret_cast<std::uint64_t>(program);
  load.insn_cnt = std::size(program);
  load.license = reinterpret_cast<std::uint64_t>("GPL");
  const OwnFd loaded(bpf(BPF_PROG_LOAD, load));
  if (!loaded.open()) {
    reason = fmt::format("no eBPF program to lose packets: {}", std::strerror(errno));
    return OwnFd();
  }
  bpf_attr link{};
  link.link_create.prog_fd = static_cast<std::uint32_t>(loaded.get());
  link.link_create.target_ifindex = ::if_nametoindex(interface.c_str());
  link.link_create.attach_type = kTcxIngress;
  OwnFd attached(bpf(BPF_LINK_CREATE, link));
  if (!attached.open())
    reason = fmt::format("packets of {} cannot be lost: {}", interface, std::strerror(errno));
  return attached;
}

}  // namespace omx::link
