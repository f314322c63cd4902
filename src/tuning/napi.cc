// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/napi.h"

#include <fmt/format.h>
#include <linux/genetlink.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/number.h"

namespace omx::tuning {

namespace {

// From linux/netdev.h, which many build machines do not have yet.
constexpr const char kFamily[] = "netdev";
constexpr std::uint8_t kNapiGet = 11, kNapiSet = 14;
enum : std::uint16_t {
  kIfindex = 1,
  kId = 2,
  kIrq = 3,
  kDefer = 5,
  kFlush = 6,
  kSuspend = 7,
};

NetlinkRequest request_of(std::uint16_t family, std::uint8_t command) {
  return {family, genlmsghdr{command, 1, 0}};
}

// Reads a number of 4 or 8 bytes. The kernel uses as many as the number needs.
std::uint64_t number_of(NetlinkBytes data) {
  return data.size() == sizeof(std::uint32_t) ? netlink_number<std::uint32_t>(data)
                                              : netlink_number<std::uint64_t>(data);
}

// Returns the number of the family "netdev". EOPNOTSUPP: this kernel has no such family.
Expected<std::uint16_t, int> family_find(Netlink& netlink) {
  NetlinkRequest request = request_of(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
  request.attribute(CTRL_ATTR_FAMILY_NAME, kFamily, sizeof kFamily);
  std::uint16_t number = 0;
  const int error = netlink.ask(std::move(request), [&number](const NetlinkMessage& message) {
    NetlinkBytes attributes = message.body;
    if (!netlink_head_take<genlmsghdr>(attributes)) return;
    netlink_attributes_visit(attributes, [&number](std::uint16_t type, NetlinkBytes data) {
      if (type == CTRL_ATTR_FAMILY_ID) number = netlink_number<std::uint16_t>(data);
    });
  });
  if (error == ENOENT || (error == 0 && number == 0)) return tl::unexpected<int>(EOPNOTSUPP);
  if (error) return tl::unexpected<int>(error);
  return number;
}

Napi napi_of(NetlinkBytes attributes) {
  Napi napi;
  netlink_attributes_visit(attributes, [&napi](std::uint16_t type, NetlinkBytes data) {
    const std::uint64_t number = number_of(data);
    if (type == kId) napi.id = static_cast<std::uint32_t>(number);
    if (type == kIrq) napi.interrupt = static_cast<std::uint32_t>(number);
    if (type == kDefer) napi.defer_hard_irqs = number;
    if (type == kFlush) napi.gro_flush_timeout = number;
    if (type == kSuspend) napi.irq_suspend_timeout = number;
  });
  return napi;
}

}  // namespace

Expected<std::vector<Napi>, int> napis_read(Netlink& netlink, std::uint32_t ifindex) {
  const auto family = family_find(netlink);
  if (!family) return tl::unexpected<int>(family.error());
  NetlinkRequest request = request_of(*family, kNapiGet);
  request.attribute(kIfindex, ifindex);
  std::vector<Napi> found;
  const int error = netlink.dump(std::move(request), [&found](const NetlinkMessage& message) {
    NetlinkBytes attributes = message.body;
    if (netlink_head_take<genlmsghdr>(attributes)) found.push_back(napi_of(attributes));
  });
  if (error) return tl::unexpected<int>(error);
  std::sort(found.begin(), found.end(), [](const Napi& a, const Napi& b) { return a.id < b.id; });
  return found;
}

Expected<std::vector<Napi>, int> napis_read(std::uint32_t ifindex) {
  Netlink netlink(NETLINK_GENERIC);
  return napis_read(netlink, ifindex);
}

std::string napi_name(std::uint32_t id, std::string_view field) {
  return fmt::format("{}/{}", id, field);
}

std::optional<NapiField> napi_name_parse(std::string_view name) {
  const std::size_t slash = name.find('/');
  const auto id = number_parse(name.substr(0, slash));
  if (slash == std::string_view::npos || !id || *id > std::numeric_limits<std::uint32_t>::max())
    return std::nullopt;
  for (const std::string_view field : {kNapiDefer, kNapiFlush})
    if (name.substr(slash + 1) == field) return NapiField{static_cast<std::uint32_t>(*id), field};
  return std::nullopt;
}

int napi_write(const NapiField& which, std::uint64_t value) {
  Netlink netlink(NETLINK_GENERIC);
  const auto family = family_find(netlink);
  if (!family) return family.error();
  NetlinkRequest request = request_of(*family, kNapiSet);
  request.attribute(kId, which.id);
  const auto half = static_cast<std::uint32_t>(value);
  if (which.field == kNapiDefer)
    request.attribute(kDefer, half);
  else if (value <= std::numeric_limits<std::uint32_t>::max())
    request.attribute(kFlush, half);
  else
    request.attribute(kFlush, value);
  return netlink.ask(std::move(request));
}

}  // namespace omx::tuning
