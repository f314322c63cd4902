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

// SIOCETHTOOL may also return positive values, which are notes about features.
int ethtool_call(const std::string& interface, void* command) {
  if (interface.size() >= IFNAMSIZ) return ENODEV;
  // The socket is not kept, because it belongs to the network namespace in which it was opened. The caller
  // may be in another one.
  const OwnFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) return errno;
  ifreq request{};
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  request.ifr_data = static_cast<char*>(command);
  return ::ioctl(socket.get(), SIOCETHTOOL, &request) < 0 ? errno : 0;
}

}  // namespace omx::steering
