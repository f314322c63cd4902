// SPDX-License-Identifier: BSD-3-Clause
#include "steering/xdp/steer_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "steer.skel.h"
#include "steering/xdp/libbpf_quiet.h"
#include "steering/xdp/steer_shared.h"

namespace omx::steering {

namespace {

static_assert(kSteerEndpoints == STEER_ENDPOINTS);

// Frames that wait for a processor: as many as the windows of some peers hold. The kernel drops frames that
// do not fit, and then they are sent again.
constexpr std::uint32_t kQueueFrames = 4096;

struct Destroy {
  void operator()(steer_bpf* object) const { steer_bpf::destroy(object); }
};
using Object = std::unique_ptr<steer_bpf, Destroy>;

// Descriptors of the maps that a program uses, by name.
struct Maps {
  OwnFd cpus, targets, counts;
  bool complete() const { return cpus.open() && targets.open() && counts.open(); }
};

bool info_read(int fd, void* info, std::uint32_t bytes) {
  return ::bpf_obj_get_info_by_fd(fd, info, &bytes) == 0;
}

Maps maps_of(int program) {
  std::array<std::uint32_t, 8> ids{};
  bpf_prog_info info{};
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  Maps maps;
  if (!info_read(program, &info, sizeof info)) return maps;
  for (std::size_t i = 0; i < std::min<std::size_t>(info.nr_map_ids, ids.size()); i++) {
    OwnFd map(::bpf_map_get_fd_by_id(ids[i]));
    bpf_map_info about{};
    if (!map.open() || !info_read(map.get(), &about, sizeof about)) continue;
    const std::string_view name = about.name;
    if (name == STEER_CPUS_NAME)
      maps.cpus = std::move(map);
    else if (name == STEER_TARGETS_NAME)
      maps.targets = std::move(map);
    else if (name == STEER_COUNTS_NAME)
      maps.counts = std::move(map);
  }
  return maps;
}

bool layout_is(int map, std::uint32_t value_size) {
  bpf_map_info about{};
  return info_read(map, &about, sizeof about) && about.max_entries == kSteerEndpoints &&
         about.key_size == sizeof(std::uint32_t) && about.value_size == value_size;
}

// Returns 0 or errno.
int maps_fill(const steer_bpf& object, const SteerTable& table) {
  const int cpus = ::bpf_map__fd(object.maps.omx_cpus);
  const int targets = ::bpf_map__fd(object.maps.omx_targets);
  for (const std::uint32_t cpu : std::set<std::uint32_t>(table.begin(), table.end())) {
    if (const int made = ::bpf_map_update_elem(cpus, &cpu, &kQueueFrames, BPF_ANY); made < 0) return -made;
  }
  for (std::uint32_t endpoint = 0; endpoint < table.size(); endpoint++) {
    const int set = ::bpf_map_update_elem(targets, &endpoint, &table[endpoint], BPF_ANY);
    if (set < 0) return -set;
  }
  return 0;
}

}  // namespace

bool steer_built() {
  return true;
}

Failure kernel_refused(std::string_view attempt, int error) {
  if (error == EPERM || error == EACCES) {
    return {2, fmt::format("{} takes root, or CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN outside of user "
                           "namespaces ({}): sudo omx steer",
                           attempt, std::strerror(error))};
  }
  // An older kernel, or one without BPF, answers with these errors.
  const bool lacks = error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
  return {2,
          fmt::format("{} was refused by the kernel: {}{}{}", attempt, std::strerror(error), libbpf_words(),
                      lacks ? "; steering needs Linux 5.18 or newer with CONFIG_BPF_SYSCALL" : "")};
}

Result<OwnFd> steer_load(const SteerTable& table) {
  libbpf_silence();
  const Object object(steer_bpf::open(nullptr));
  if (!object) return tl::unexpected(kernel_refused("preparing the XDP program", errno));
  const std::uint32_t highest = *std::max_element(table.begin(), table.end());
  if (const int error = ::bpf_map__set_max_entries(object->maps.omx_cpus, highest + 1); error < 0)
    return tl::unexpected(kernel_refused("preparing the XDP program", -error));
  if (const int error = steer_bpf::load(object.get()); error < 0)
    return tl::unexpected(kernel_refused("loading the XDP program", -error));
  if (const int error = maps_fill(*object, table); error != 0)
    return tl::unexpected(kernel_refused("writing the table of the XDP program", error));
  OwnFd program(::dup(::bpf_program__fd(object->progs.omx_steer)));
  if (!program.open()) return tl::unexpected(kernel_refused("keeping the XDP program", errno));
  return program;
}

std::string program_name(int program) {
  bpf_prog_info info{};
  return info_read(program, &info, sizeof info) ? info.name : std::string();
}

bool steer_is_ours(int program) {
  return program_name(program) == STEER_PROGRAM_NAME && maps_of(program).complete();
}

Result<OwnFd> program_open(std::uint32_t id) {
  OwnFd program(::bpf_prog_get_fd_by_id(id));
  if (!program.open()) return tl::unexpected(kernel_refused("looking at XDP programs", errno));
  return program;
}

Result<SteerState> steer_read(int program) {
  const Maps maps = maps_of(program);
  if (!maps.complete() || !layout_is(maps.targets.get(), sizeof(std::uint32_t)) ||
      !layout_is(maps.counts.get(), sizeof(steer_counts))) {
    return fail(2,
                "the attached program is of another version of Open-MX, so its tables cannot be read; "
                "omx steer --off takes it away");
  }
  const int processors = ::libbpf_num_possible_cpus();
  if (processors <= 0) return tl::unexpected(kernel_refused("counting processors", -processors));
  const auto count = static_cast<std::size_t>(processors);
  SteerState state;
  state.endpoints.resize(kSteerEndpoints);
  std::vector<steer_counts> values(count);
  for (std::uint32_t e = 0; e < kSteerEndpoints; e++) {
    if (::bpf_map_lookup_elem(maps.targets.get(), &e, &state.table[e]) < 0 ||
        ::bpf_map_lookup_elem(maps.counts.get(), &e, values.data()) < 0)
      return tl::unexpected(kernel_refused("reading the tables of the XDP program", errno));
    EndpointCounts& counts = state.endpoints[e];
    counts.stayed.resize(count);
    counts.moved.resize(count);
    for (std::size_t cpu = 0; cpu < count; cpu++) {
      counts.stayed[cpu] = values[cpu].stayed;
      counts.moved[cpu] = values[cpu].moved;
    }
  }
  return state;
}

}  // namespace omx::steering
