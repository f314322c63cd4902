// SPDX-License-Identifier: BSD-3-Clause
#include "local/credentials.h"

#include <unistd.h>

namespace omx::local {

bool trusted(const OwnFd& connection, ucred& credentials) {
  socklen_t size = sizeof credentials;
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
         (credentials.uid == ::geteuid() || credentials.uid == 0);
}

}  // namespace omx::local
