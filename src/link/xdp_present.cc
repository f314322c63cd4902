// SPDX-License-Identifier: BSD-3-Clause
#include "link/xdp_present.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/own_fd.h"

namespace omx::link {

namespace {

std::uint32_t number_of(rtattr* attribute) {
  std::uint32_t value = 0;
  if (RTA_PAYLOAD(attribute) >= sizeof value) std::memcpy(&value, RTA_DATA(attribute), sizeof value);
  return value;
}

XdpPresent present_of(rtattr* xdp) {
  XdpPresent present;
  auto length = static_cast<int>(RTA_PAYLOAD(xdp));
  for (auto* a = static_cast<rtattr*>(RTA_DATA(xdp)); RTA_OK(a, length); a = RTA_NEXT(a, length)) {
    if (a->rta_type == IFLA_XDP_DRV_PROG_ID) present.native = number_of(a);
    if (a->rta_type == IFLA_XDP_SKB_PROG_ID) present.generic = number_of(a);
    if (a->rta_type == IFLA_XDP_HW_PROG_ID) present.offloaded = number_of(a);
  }
  return present;
}

}  // namespace

int xdp_present(std::uint32_t index, XdpPresent& present) {
  const OwnFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.open()) return errno;
  struct {
    nlmsghdr header;
    ifinfomsg link;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.link.ifi_index = static_cast<int>(index);
  if (::send(fd.get(), &request, sizeof request, 0) < 0) return errno;

  std::vector<char> buffer(32U << 10);  // what the kernel sends at most at once
  const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return errno;
  auto* message = reinterpret_cast<nlmsghdr*>(buffer.data());
  if (!NLMSG_OK(message, static_cast<unsigned>(got))) return EIO;
  if (message->nlmsg_type == NLMSG_ERROR) return -static_cast<nlmsgerr*>(NLMSG_DATA(message))->error;
  if (message->nlmsg_type != RTM_NEWLINK) return EIO;
  present = {};
  auto length = static_cast<int>(IFLA_PAYLOAD(message));
  auto* link = static_cast<ifinfomsg*>(NLMSG_DATA(message));
  for (rtattr* a = IFLA_RTA(link); RTA_OK(a, length); a = RTA_NEXT(a, length)) {
    if ((a->rta_type & NLA_TYPE_MASK) == IFLA_XDP) present = present_of(a);
  }
  return 0;
}

}  // namespace omx::link
