// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/bpf_call.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace omx::link {

int bpf_call(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

bool bpf_info_read(int fd, void* info, std::uint32_t bytes) {
  bpf_attr a{};
  a.info.bpf_fd = static_cast<std::uint32_t>(fd);
  a.info.info_len = bytes;
  a.info.info = reinterpret_cast<std::uintptr_t>(info);
  return bpf_call(BPF_OBJ_GET_INFO_BY_FD, a) == 0;
}

OwnFd bpf_by_id(bpf_cmd command, std::uint32_t id) {
  bpf_attr a{};
  a.prog_id = id;  // the id of whatever the command opens
  return OwnFd(bpf_call(command, a));
}

}  // namespace omx::link
