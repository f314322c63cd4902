// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/egress_tcx.h"

#include <fmt/format.h>
#include <linux/bpf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "netdev/bpf_call.h"
#include "tools/broker/kernel/egress_program.h"
#include "tools/broker/kernel/kernel_failure.h"

namespace omx::broker {

namespace {

// From linux/bpf.h of Linux 6.6. Older headers lack them.
constexpr std::uint32_t kTcxEgress = 47;       // BPF_TCX_EGRESS
constexpr std::uint32_t kBeforeAll = 1U << 3;  // BPF_F_BEFORE, without a program to be before
constexpr std::uint32_t kReplace = 1U << 2;    // BPF_F_REPLACE
constexpr std::size_t kMostPrograms = 64;      // of a hook

std::uint32_t program_id(int program) {
  bpf_prog_info info{};
  return link::bpf_info_read(program, &info, sizeof info) ? info.id : 0;
}

bool is_ours(std::uint32_t id) {
  const OwnFd program = link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, id);
  bpf_prog_info info{};
  return program.open() && link::bpf_info_read(program.get(), &info, sizeof info) &&
         std::string_view(info.name) == kEgressName;
}

// Returns 0 or errno. `replaced` is the program that goes with kReplace.
int program_call(bpf_cmd command, std::uint32_t ifindex, int program, std::uint32_t flags, int replaced = 0) {
  bpf_attr a{};
  a.replace_bpf_fd = static_cast<std::uint32_t>(replaced);
  a.target_fd = ifindex;
  a.attach_bpf_fd = static_cast<std::uint32_t>(program);
  a.attach_type = kTcxEgress;
  a.attach_flags = flags;
  return link::bpf_call(command, a) < 0 ? errno : 0;
}

int detach(std::uint32_t ifindex, std::uint32_t id) {
  const OwnFd program = link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, id);
  const int error = program.open() ? program_call(BPF_PROG_DETACH, ifindex, program.get(), 0) : errno;
  return error == ENOENT ? 0 : error;  // gone
}

}  // namespace

TcxHook tcx_find(std::uint32_t ifindex) {
  std::array<std::uint32_t, kMostPrograms> ids{};
  bpf_attr a{};
  a.query.target_fd = ifindex;
  a.query.attach_type = kTcxEgress;
  a.query.prog_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  a.query.prog_cnt = ids.size();
  TcxHook hook;
  // The kernel reports a hook that was never used as ENOENT, and one that it does not know as EINVAL.
  const bool read = link::bpf_call(BPF_PROG_QUERY, a) == 0;
  hook.possible = read || errno == ENOENT;
  if (!read) return hook;
  hook.programs = std::min<std::uint32_t>(a.query.prog_cnt, ids.size());
  for (std::uint32_t i = 0; i < hook.programs; i++) {
    if (!is_ours(ids[i])) continue;
    hook.program_id = ids[i];
    hook.first = i == 0;
    break;
  }
  return hook;
}

Result<void> tcx_add(std::uint32_t ifindex, int program) {
  const TcxHook hook = tcx_find(ifindex);
  const std::uint32_t former = hook.program_id;
  if (former != 0 && former == program_id(program)) return {};
  if (former != 0 && hook.first) {
    const OwnFd old = link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, former);
    if (old.open() && program_call(BPF_PROG_ATTACH, ifindex, program, kReplace, old.get()) == 0) return {};
  }
  if (const int error = program_call(BPF_PROG_ATTACH, ifindex, program, kBeforeAll))
    return tl::unexpected(kernel_failure(
        fmt::format("add the broker's program to the egress of {}", interface_name(ifindex)), error));
  // For a moment both run, and the former one drops what the first has cleared of its mark.
  if (const int error = former != 0 ? detach(ifindex, former) : 0)
    return tl::unexpected(kernel_failure(
        fmt::format("remove the former program of the broker from {}", interface_name(ifindex)), error));
  return {};
}

Result<void> tcx_remove(std::uint32_t ifindex) {
  const std::uint32_t former = tcx_find(ifindex).program_id;
  if (const int error = former != 0 ? detach(ifindex, former) : 0)
    return tl::unexpected(
        kernel_failure(fmt::format("remove the broker's program from {}", interface_name(ifindex)), error));
  return {};
}

}  // namespace omx::broker
