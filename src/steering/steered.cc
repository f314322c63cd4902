// SPDX-License-Identifier: BSD-3-Clause
#include "steering/steered.h"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/own_fd.h"
#include "netdev/bpf_call.h"
#include "netdev/xdp_present.h"
#include "steering/xdp/steer_shared.h"

namespace omx::steering {

namespace {

// Returns the map STEER_TARGETS_NAME, or no descriptor if the program has no such map.
OwnFd targets_of(int program, const bpf_prog_info& about) {
  std::array<std::uint32_t, 8> ids{};
  bpf_prog_info info{};
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  if (!link::bpf_info_read(program, &info, sizeof info)) return {};
  for (std::size_t i = 0; i < std::min<std::size_t>(about.nr_map_ids, ids.size()); i++) {
    OwnFd map = link::bpf_by_id(BPF_MAP_GET_FD_BY_ID, ids[i]);
    bpf_map_info is{};
    if (map.open() && link::bpf_info_read(map.get(), &is, sizeof is) &&
        std::string_view(is.name) == STEER_TARGETS_NAME && is.max_entries == STEER_ENDPOINTS &&
        is.key_size == sizeof(std::uint32_t) && is.value_size == sizeof(std::uint32_t))
      return map;
  }
  return {};
}

std::vector<int> targets_read(int map) {
  std::vector<int> processors;
  for (std::uint32_t endpoint = 0; endpoint < STEER_ENDPOINTS; endpoint++) {
    std::uint32_t processor = 0;
    bpf_attr a{};
    a.map_fd = static_cast<std::uint32_t>(map);
    a.key = reinterpret_cast<std::uintptr_t>(&endpoint);
    a.value = reinterpret_cast<std::uintptr_t>(&processor);
    if (link::bpf_call(BPF_MAP_LOOKUP_ELEM, a) < 0) return {};
    processors.push_back(static_cast<int>(processor));
  }
  return processors;
}

// Returns nothing if the interface has no program or another owner's program.
std::optional<Steered> steered_by(std::uint32_t id, const std::string& interface) {
  Steered found;
  found.interface = interface;
  const OwnFd program = link::bpf_by_id(BPF_PROG_GET_FD_BY_ID, id);
  bpf_prog_info about{};
  if (!program.open() || !link::bpf_info_read(program.get(), &about, sizeof about)) {
    if (errno == ENOENT) return std::nullopt;  // gone meanwhile
    found.unreadable = fmt::format(
        "{} has an XDP program, and whether it hands frames to other processors (omx steer) is not to be "
        "seen "
        "by this process ({}); as root, omx prepare-binding FILE writes it down for "
        "OMX_PROCESS_BINDING=file:FILE",
        interface, std::strerror(errno));
    return found;
  }
  if (std::string_view(about.name) != STEER_PROGRAM_NAME) return std::nullopt;
  const OwnFd targets = targets_of(program.get(), about);
  if (targets.open()) found.processors = targets_read(targets.get());
  if (found.processors.empty())
    found.unreadable = fmt::format(
        "{0} is steered by another version of Open-MX, whose table cannot be read; omx steer {0} replaces it",
        interface);
  return found;
}

}  // namespace

Steered steered_read(const link::Interface& interface, const std::string& below) {
  for (const std::string& name : {interface.name, below}) {
    const unsigned index = name == interface.name ? interface.index : ::if_nametoindex(name.c_str());
    link::XdpPresent present;
    if (index == 0 || link::xdp_present(index, present) != 0) continue;
    for (const std::uint32_t id : {present.native, present.generic}) {
      if (id == 0) continue;
      if (auto found = steered_by(id, name)) return std::move(*found);
    }
  }
  return {};
}

}  // namespace omx::steering
