// SPDX-License-Identifier: BSD-3-Clause
// Loads eBPF programs and makes their maps.
#pragma once

#include <linux/bpf.h>

#include <cstdint>

#include "base/expected.h"
#include "base/own_fd.h"
#include "tools/broker/kernel/ebpf_code.h"

namespace omx::broker {

struct ProgramKind {
  const char* name = "";  // as `bpftool prog` shows it, 15 characters at most
  bpf_prog_type type = BPF_PROG_TYPE_UNSPEC;
  bpf_attach_type attach = {};  // only for types that expect one
};

// Loads a program. If the kernel's verifier refuses it, the failure holds the end of the verifier's report.
Result<OwnFd> ebpf_load(const ProgramKind& kind, const EbpfProgram& program);

struct ArrayKind {
  const char* name = "";  // 15 characters at most
  std::uint32_t value_bytes = 0;
  std::uint32_t entries = 0;
  std::uint32_t flags = 0;  // BPF_F_MMAPABLE ...
};

// Makes an array map, whose values are all zero.
Result<OwnFd> ebpf_array_make(const ArrayKind& kind);

// Reads or writes a value of an array map. Returns 0 or errno.
int ebpf_array_read(int map, std::uint32_t index, void* value);
int ebpf_array_write(int map, std::uint32_t index, const void* value);

// Returns the number by which the kernel knows a map; 0 if that cannot be read.
std::uint32_t ebpf_map_id(int map);
// Opens an array map with one value of that size by its number. Not open if there is none.
OwnFd ebpf_array_by_id(std::uint32_t id, std::uint32_t value_bytes);

}  // namespace omx::broker
