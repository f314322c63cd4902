// SPDX-License-Identifier: BSD-3-Clause
// The kernel's reports on sends with MSG_ZEROCOPY, from a socket's error queue.
#pragma once

#include <linux/errqueue.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>

namespace omx::bench {

// Calls take(sends, copied) for each report: how many sends it tells of, and whether the kernel copied them
// after all.
template <class Take>
void zerocopy_reports_read(int fd, Take take) {
  for (;;) {
    alignas(cmsghdr) char control[128];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
      sock_extended_err error;
      std::memcpy(&error, CMSG_DATA(header), sizeof error);
      if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY) continue;
      take(error.ee_data - error.ee_info + 1, (error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0);
    }
  }
}

}  // namespace omx::bench
