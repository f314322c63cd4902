// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/ebpf_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "netdev/bpf_call.h"
#include "netdev/open_failure.h"
#include "tools/broker/kernel/kernel_failure.h"

namespace omx::broker {

namespace {

constexpr std::size_t kReportBytes = 256U << 10;
constexpr std::size_t kReportShown = 400;

std::uint64_t address(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data);
}

void name_put(char (&to)[BPF_OBJ_NAME_LEN], const char* name) {
  std::strncpy(to, name, sizeof to - 1);
}

std::string report_end(const std::vector<char>& report) {
  const std::string text(report.data(), ::strnlen(report.data(), report.size()));
  return text.size() > kReportShown ? text.substr(text.size() - kReportShown) : text;
}

}  // namespace

Result<OwnFd> ebpf_load(const ProgramKind& kind, const EbpfProgram& program) {
  bpf_attr a{};
  a.prog_type = kind.type;
  a.expected_attach_type = kind.attach;
  a.insns = address(program.data());
  a.insn_cnt = static_cast<std::uint32_t>(program.size());
  a.license = address("BSD");
  name_put(a.prog_name, kind.name);
  OwnFd fd(link::bpf_call(BPF_PROG_LOAD, a));
  if (fd.open()) return fd;
  const int error = errno;
  if (error != EINVAL && error != EACCES)
    return tl::unexpected(kernel_failure(fmt::format("load the program {}", kind.name), error));
  std::vector<char> report(kReportBytes);
  a.log_buf = address(report.data());
  a.log_size = static_cast<std::uint32_t>(report.size());
  a.log_level = 1;
  fd = OwnFd(link::bpf_call(BPF_PROG_LOAD, a));
  if (fd.open()) return fd;
  return fail(link::kFailure, fmt::format("this kernel refuses the program {} ({}); Linux 5.12 or later with "
                                          "CONFIG_BPF_SYSCALL is needed: {}",
                                          kind.name, std::strerror(error), report_end(report)));
}

Result<OwnFd> ebpf_array_make(const ArrayKind& kind) {
  bpf_attr a{};
  a.map_type = BPF_MAP_TYPE_ARRAY;
  a.key_size = sizeof(std::uint32_t);
  a.value_size = kind.value_bytes;
  a.max_entries = kind.entries;
  a.map_flags = kind.flags;
  name_put(a.map_name, kind.name);
  OwnFd fd(link::bpf_call(BPF_MAP_CREATE, a));
  if (!fd.open()) return tl::unexpected(kernel_failure(fmt::format("make the BPF map {}", kind.name), errno));
  return fd;
}

int ebpf_array_read(int map, std::uint32_t index, void* value) {
  bpf_attr a{};
  a.map_fd = static_cast<std::uint32_t>(map);
  a.key = address(&index);
  a.value = address(value);
  return link::bpf_call(BPF_MAP_LOOKUP_ELEM, a) < 0 ? errno : 0;
}

int ebpf_array_write(int map, std::uint32_t index, const void* value) {
  bpf_attr a{};
  a.map_fd = static_cast<std::uint32_t>(map);
  a.key = address(&index);
  a.value = address(value);
  a.flags = BPF_ANY;
  return link::bpf_call(BPF_MAP_UPDATE_ELEM, a) < 0 ? errno : 0;
}

std::uint32_t ebpf_map_id(int map) {
  bpf_map_info info{};
  return link::bpf_info_read(map, &info, sizeof info) ? info.id : 0;
}

OwnFd ebpf_array_by_id(std::uint32_t id, std::uint32_t value_bytes) {
  OwnFd map = link::bpf_by_id(BPF_MAP_GET_FD_BY_ID, id);
  bpf_map_info info{};
  const bool fits = map.open() && link::bpf_info_read(map.get(), &info, sizeof info) &&
                    info.type == BPF_MAP_TYPE_ARRAY && info.value_size == value_bytes &&
                    info.max_entries == 1;
  if (!fits) map.reset();
  return map;
}

}  // namespace omx::broker
