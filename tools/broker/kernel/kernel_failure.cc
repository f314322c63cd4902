// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/kernel_failure.h"

#include <fmt/format.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/shortage.h"
#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

const char* remedy(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return "; the broker needs CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN and CAP_BPF: run it as root";
    case EMFILE:
      return "; raise the limit of open files (ulimit -n, LimitNOFILE=)";
    default:
      return "";
  }
}

int mx_code(int error) {
  if (error == EPERM || error == EACCES) return link::kNoPermission;
  if (error == ENODEV || error == ENXIO) return link::kNoDevice;
  return is_shortage(error) ? link::kNoResources : link::kFailure;
}

}  // namespace

Failure kernel_failure(const std::string& what, int error) {
  return {mx_code(error), fmt::format("cannot {}: {}{}", what, std::strerror(error), remedy(error))};
}

std::string interface_name(std::uint32_t ifindex) {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(ifindex, name.data()) ? name.data() : fmt::format("interface {}", ifindex);
}

}  // namespace omx::broker
