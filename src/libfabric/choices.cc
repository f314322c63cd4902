// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/choices.h"

#include <fmt/format.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <cstring>

#include "libfabric/capabilities.h"
#include "libfabric/domain.h"
#include "libfabric/parameters.h"
#include "libfabric/provider.h"

namespace omx::fabric {

Choices::Choices(const fi_info& info)
    : caps(info.caps ? info.caps : kCapsUnscheduled),
      transmit_flags(info.tx_attr ? info.tx_attr->op_flags : 0),
      receive_flags(info.rx_attr ? info.rx_attr->op_flags : 0),
      transmit_size(info.tx_attr && info.tx_attr->size ? info.tx_attr->size : parameters().tx_size) {
  if (const auto source = address_read(info.src_addr, info.src_addrlen, info.addr_format, true))
    address = *source;
}

int Choices::option_set(int name, const void* value, std::size_t length) {
  if (name != FI_OPT_MIN_MULTI_RECV)
    return refuse(FI_LOG_EP_CTRL, FI_ENOPROTOOPT, fmt::format("fi_setopt: option {} is not known", name));
  if (length != sizeof(std::size_t))
    return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_setopt: FI_OPT_MIN_MULTI_RECV is a size_t");
  std::size_t least = 0;
  std::memcpy(&least, value, sizeof least);
  if (least > kMessageMost)
    return refuse(FI_LOG_EP_CTRL, FI_EINVAL,
                  "fi_setopt: no message is as long as that FI_OPT_MIN_MULTI_RECV");
  multi_receive_least = std::max<std::size_t>(least, 1);
  return 0;
}

int Choices::option_get(int name, void* value, std::size_t* length) const {
  if (name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (*length < sizeof multi_receive_least) return -FI_ETOOSMALL;
  std::memcpy(value, &multi_receive_least, sizeof multi_receive_least);
  *length = sizeof multi_receive_least;
  return 0;
}

int Choices::name_set(const Domain& domain, const void* in, std::size_t length) {
  const auto named = address_read(in, length, domain.address_format(), true);
  if (!named) return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_setname: " + named.error().why);
  if (named->nic != 0 && named->nic != domain.board().interface.nic)
    return refuse(FI_LOG_EP_CTRL, FI_EINVAL, "fi_setname: it is an address of another interface");
  address = *named;
  return 0;
}

}  // namespace omx::fabric
