// SPDX-License-Identifier: BSD-3-Clause
#include "steering/ethtool_call.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/own_fd.h"

namespace omx::steering {

// SIOCETHTOOL may return positive values, which are remarks on features.
int ethtool_call(const std::string& interface, void* command) {
  if (interface.size() >= IFNAMSIZ) return ENODEV;
  // Not kept: it belongs to the namespace in which it was opened, not to that of the caller.
  const OwnFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) return errno;
  ifreq request{};
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  request.ifr_data = static_cast<char*>(command);
  return ::ioctl(socket.get(), SIOCETHTOOL, &request) < 0 ? errno : 0;
}

}  // namespace omx::steering
