// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interface_state.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/own_fd.h"

namespace omx::link {

namespace {

int read_rest(int fd, ifreq& request, InterfaceState& state) {
  if (::ioctl(fd, SIOCGIFFLAGS, &request) < 0) return errno;
  state.up = request.ifr_flags & IFF_UP;
  state.running = request.ifr_flags & IFF_RUNNING;
  if (::ioctl(fd, SIOCGIFMTU, &request) < 0) return errno;
  state.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  if (::ioctl(fd, SIOCGIFHWADDR, &request) < 0) return errno;
  state.hardware_type = request.ifr_hwaddr.sa_family;
  state.nic = mac_load(reinterpret_cast<const std::byte*>(request.ifr_hwaddr.sa_data));
  return 0;
}

}  // namespace

int interface_state_by_name(int fd, const std::string& name, InterfaceState& state) {
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name) return ENODEV;
  std::memcpy(request.ifr_name, name.data(), name.size());
  if (::ioctl(fd, SIOCGIFINDEX, &request) < 0) return errno;
  state.index = static_cast<std::uint32_t>(request.ifr_ifindex);
  return read_rest(fd, request, state);
}

int interface_state_by_name(const std::string& name, InterfaceState& state) {
  const OwnFd any(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return any.open() ? interface_state_by_name(any.get(), name, state) : errno;
}

int interface_state_by_index(int fd, std::uint32_t index, InterfaceState& state) {
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(index);
  if (::ioctl(fd, SIOCGIFNAME, &request) < 0) return errno;
  state.index = index;
  return read_rest(fd, request, state);
}

Outage interface_look(int fd, const std::string& name, std::uint32_t index, bool removed, NicId known,
                      InterfaceState& now) {
  InterfaceState seen;
  if (removed || interface_state_by_index(fd, index, seen) != 0) {
    now.up = now.running = false;
    if (interface_state_by_name(fd, name, seen) != 0) return Outage::gone;
    now = seen;
    return known != 0 && seen.nic != known ? Outage::replaced : Outage::returned;
  }
  now = seen;
  if (!now.up) return Outage::down;
  if (!now.running) return Outage::no_carrier;
  return known != 0 && now.nic != known ? Outage::readdressed : Outage::none;
}

}  // namespace omx::link
