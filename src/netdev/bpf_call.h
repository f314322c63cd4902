// SPDX-License-Identifier: BSD-3-Clause
// BPF programs and maps of the kernel by its system call: the library does without libbpf.
#pragma once

#include <linux/bpf.h>

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

// What the system call returns; errno is set.
int bpf_call(bpf_cmd command, bpf_attr& attributes);
// Of a program, map or link: bpf_prog_info and so on.
bool bpf_info_read(int fd, void* info, std::uint32_t bytes);
// Of a program (BPF_PROG_GET_FD_BY_ID), map or link; not open, with errno, when it may not be had.
OwnFd bpf_by_id(bpf_cmd command, std::uint32_t id);

}  // namespace omx::link
