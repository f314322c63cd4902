// SPDX-License-Identifier: BSD-3-Clause
// Ancillary data of a send call that lets the kernel cut one piece of memory into datagrams (UDP_SEGMENT).
#pragma once

#include <netinet/udp.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace omx::link {

// Must outlive the call.
class UdpSegment {
 public:
  // Makes each datagram but the last one `bytes` long.
  void attach(msghdr& message, std::size_t bytes) {
    message.msg_control = control_;
    message.msg_controllen = sizeof control_;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto size = static_cast<std::uint16_t>(bytes);
    std::memcpy(CMSG_DATA(header), &size, sizeof size);
  }

 private:
  alignas(cmsghdr) std::byte control_[CMSG_SPACE(sizeof(std::uint16_t))] = {};
};

}  // namespace omx::link
