// SPDX-License-Identifier: BSD-3-Clause
// The kernel's BPF programs and maps by system call, because the library does without libbpf.
#pragma once

#include <linux/bpf.h>

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

// Returns the result of the system call, which sets errno.
int bpf_call(bpf_cmd command, bpf_attr& attributes);
// Reads the facts of a program, map or link into a bpf_prog_info or its like.
bool bpf_info_read(int fd, void* info, std::uint32_t bytes);
// Opens a program (BPF_PROG_GET_FD_BY_ID), map or link. On failure the descriptor is not open and errno is
// set.
OwnFd bpf_by_id(bpf_cmd command, std::uint32_t id);

}  // namespace omx::link
