// SPDX-License-Identifier: BSD-3-Clause
#include "link/xdp/xdp_attach.h"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/if_link.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "link/xdp/xdp_load.h"
#include "netdev/bpf_call.h"
#include "netdev/open_failure.h"
#include "netdev/xdp_present.h"

namespace omx::link {

namespace {

// Another process may attach or leave between our check and our step.
constexpr int kTries = 8;

int map_set(int map, const void* key, const void* value) {
  bpf_attr a{};
  a.map_fd = static_cast<std::uint32_t>(map);
  a.key = reinterpret_cast<std::uintptr_t>(key);
  a.value = reinterpret_cast<std::uintptr_t>(value);
  return bpf_call(BPF_MAP_UPDATE_ELEM, a) < 0 ? errno : 0;
}

std::uint32_t socket_key(std::uint32_t queue, std::uint8_t endpoint) {
  return queue * OMX_XDP_ENDPOINTS + endpoint;
}

// Returns whether the error is one of a driver without native XDP, or without it for these settings.
bool cannot_natively(int error) {
  return error == EOPNOTSUPP || error == ENOTSUP || error == ERANGE || error == EINVAL || error == ENOSPC ||
         error == ENOMEM;
}

bool another_is_there(int error) {
  return error == EBUSY || error == EEXIST;
}

// Attaches the program. On failure the descriptor is not open and errno is set.
OwnFd link_create(int program, std::uint32_t index, bool generic) {
  bpf_attr a{};
  a.link_create.prog_fd = static_cast<std::uint32_t>(program);
  a.link_create.target_ifindex = index;
  a.link_create.attach_type = BPF_XDP;
  a.link_create.flags = generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
  return OwnFd(bpf_call(BPF_LINK_CREATE, a));
}

// Returns the link by which a program is attached.
OwnFd link_of(std::uint32_t program_id) {
  bpf_attr a{};
  while (bpf_call(BPF_LINK_GET_NEXT_ID, a) == 0) {
    OwnFd link = bpf_by_id(BPF_LINK_GET_FD_BY_ID, a.next_id);
    bpf_link_info info{};
    if (link.open() && bpf_info_read(link.get(), &info, sizeof info) && info.type == BPF_LINK_TYPE_XDP &&
        info.prog_id == program_id && info.xdp.ifindex != 0)
      return link;
    a.start_id = a.next_id;
  }
  return {};
}

struct Maps {
  OwnFd sockets, rules;
};

// Returns the maps of an attached program. They are not open when the program is not ours, or of another
// version.
Maps maps_of(int program) {
  std::array<std::uint32_t, 4> ids{};
  bpf_prog_info info{};
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  Maps maps;
  if (!bpf_info_read(program, &info, sizeof info) || std::string_view(info.name) != OMX_XDP_PROGRAM_NAME)
    return maps;
  for (std::size_t i = 0; i < std::min<std::size_t>(info.nr_map_ids, ids.size()); i++) {
    OwnFd map = bpf_by_id(BPF_MAP_GET_FD_BY_ID, ids[i]);
    bpf_map_info about{};
    if (!map.open() || !bpf_info_read(map.get(), &about, sizeof about)) continue;
    const std::string_view name = about.name;
    if (about.type == BPF_MAP_TYPE_XSKMAP && about.max_entries == OMX_XDP_QUEUES * OMX_XDP_ENDPOINTS)
      maps.sockets = std::move(map);
    else if (name == OMX_XDP_RULES_NAME && about.value_size == sizeof(omx_xdp_rule))
      maps.rules = std::move(map);
  }
  return maps;
}

std::string program_name(int program) {
  bpf_prog_info info{};
  return bpf_info_read(program, &info, sizeof info) ? shown(info.name) : std::string("?");
}

Failure refused(const std::string& interface, const char* what, int error) {
  if (error == EPERM || error == EACCES) {
    return {
        kNoPermission,
        fmt::format("{} on {} takes root (CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and CAP_SYS_ADMIN outside of "
                    "user namespaces): {}; run as root, or set OMX_LINK=ethernet",
                    what, interface, std::strerror(error))};
  }
  const bool lacks = error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
  return {kFailure, fmt::format("{} on {} was refused by the kernel: {}{}; OMX_LINK=ethernet works without",
                                what, interface, std::strerror(error),
                                lacks ? " (it takes Linux 5.18 or newer with CONFIG_XDP_SOCKETS)" : "")};
}

Failure occupied(const std::string& interface, const XdpPresent& present, const std::string& name) {
  const std::uint32_t id = present.native    ? present.native
                           : present.generic ? present.generic
                                             : present.offloaded;
  return {kBusy,
          fmt::format("{} has another XDP program, \"{}\" (id {}), and an interface takes one; if it may "
                      "go: {}, else set OMX_LINK=ethernet",
                      interface, name, id,
                      name == "omx_steer" ? "omx steer " + interface + " --off"
                                          : fmt::format("ip link set dev {} xdp{} off", interface,
                                                        present.native ? "drv" : "generic"))};
}

}  // namespace

int XdpAttachment::rule_set(std::uint8_t endpoint, const omx_xdp_rule& rule) const {
  const std::uint32_t key = endpoint;
  return map_set(rules_.get(), &key, &rule);
}

// The rule is set first, because it has no effect without a socket.
int XdpAttachment::endpoint_set(std::uint32_t queue, std::uint8_t endpoint, int socket,
                                const omx_xdp_rule& rule) const {
  if (const int error = rule_set(endpoint, rule)) return error;
  const std::uint32_t key = socket_key(queue, endpoint);
  return map_set(sockets_.get(), &key, &socket);
}

void XdpAttachment::endpoint_clear(std::uint32_t queue, std::uint8_t endpoint) const {
  const std::uint32_t key = socket_key(queue, endpoint);
  bpf_attr a{};
  a.map_fd = static_cast<std::uint32_t>(sockets_.get());
  a.key = reinterpret_cast<std::uintptr_t>(&key);
  bpf_call(BPF_MAP_DELETE_ELEM, a);
}

Result<XdpAttachment> XdpAttachment::take(const std::string& interface, std::uint32_t index, XdpMode mode) {
  XdpPresent present;
  for (int i = 0; i < kTries; i++) {
    if (const int error = xdp_present(index, present))
      return tl::unexpected(refused(interface, "asking for the XDP program", error));
    if (!present.any()) {
      omx_xdp_program loaded{};
      if (const int error = omx_xdp_load(&loaded); error < 0)
        return tl::unexpected(refused(interface, "loading the XDP program", -error));
      const OwnFd program(loaded.program);
      XdpAttachment made;
      made.sockets_ = OwnFd(loaded.sockets);
      made.rules_ = OwnFd(loaded.rules);
      made.generic_ = mode == XdpMode::generic;
      made.link_ = link_create(program.get(), index, made.generic_);
      int error = made.link_.open() ? 0 : errno;
      if (cannot_natively(error) && mode == XdpMode::automatic) {
        made.why_generic_ = std::strerror(error);
        made.generic_ = true;
        made.link_ = link_create(program.get(), index, true);
        error = made.link_.open() ? 0 : errno;
      }
      if (error == 0) return made;
      if (another_is_there(error)) continue;
      if (cannot_natively(error) && !made.generic_) {
        return fail(kFailure,
                    fmt::format("{} takes no XDP program in its driver: {}; set OMX_XDP_MODE to auto or "
                                "generic",
                                interface, std::strerror(error)));
      }
      return tl::unexpected(refused(interface, "attaching the XDP program", error));
    }

    const bool generic = !present.native;
    OwnFd program = bpf_by_id(BPF_PROG_GET_FD_BY_ID, generic ? present.generic : present.native);
    if (!program.open()) {
      if (errno == ENOENT) continue;
      if (present.offloaded && !present.generic && !present.native)
        return tl::unexpected(occupied(interface, present, "?"));
      return tl::unexpected(refused(interface, "looking at the XDP program", errno));
    }
    Maps maps = maps_of(program.get());
    if (!maps.sockets.open() || !maps.rules.open())
      return tl::unexpected(occupied(interface, present, program_name(program.get())));
    XdpAttachment joined;
    joined.link_ = link_of(generic ? present.generic : present.native);
    if (!joined.link_.open()) continue;  // its last holder has gone
    joined.sockets_ = std::move(maps.sockets);
    joined.rules_ = std::move(maps.rules);
    joined.generic_ = generic;
    joined.joined_ = true;
    if (mode != XdpMode::automatic && (mode == XdpMode::generic) != generic) {
      return fail(kBusy,
                  fmt::format("other processes use {} with AF_XDP in {} mode, and OMX_XDP_MODE={} asks for "
                              "another; give all the same",
                              interface, generic ? "generic" : "native", xdp_mode_name(mode)));
    }
    return joined;
  }
  return fail(kBusy, fmt::format("XDP programs come and go on {}; try again", interface));
}

}  // namespace omx::link
