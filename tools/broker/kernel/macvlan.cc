// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/macvlan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string_view>

#include "base/netlink.h"
#include "netdev/open_failure.h"
#include "tools/broker/kernel/kernel_failure.h"

namespace omx::broker {

namespace {

constexpr std::string_view kKind = "macvlan";

void text_put(NetlinkRequest& request, std::uint16_t type, std::string_view text) {
  request.attribute(type, std::string(text).c_str(), text.size() + 1);
}

// Runs a conversation with the kernel in the private network. Returns its result, or the errno that kept it
// from running.
int converse_in(const PrivateNetwork& network, const std::function<int(Netlink&)>& converse) {
  int result = 0;
  const int failed = run_in(network, [&] {
    Netlink netlink(NETLINK_ROUTE);
    result = converse(netlink);
  });
  return failed ? failed : result;
}

void kind_take(Macvlan& macvlan, bool& is_macvlan, NetlinkBytes info) {
  netlink_attributes_visit(info, [&](std::uint16_t type, NetlinkBytes data) {
    if (type == IFLA_INFO_KIND) is_macvlan = netlink_text(data) == kKind;
    if (type != IFLA_INFO_DATA) return;
    netlink_attributes_visit(data, [&](std::uint16_t option, NetlinkBytes value) {
      if (option == IFLA_MACVLAN_MODE && netlink_number<std::uint32_t>(value) == MACVLAN_MODE_PASSTHRU)
        macvlan.mode = MacvlanMode::whole;
    });
  });
}

std::optional<Macvlan> macvlan_take(const NetlinkMessage& message, const std::string& name) {
  NetlinkBytes attributes = message.body;
  const auto link = netlink_head_take<ifinfomsg>(attributes);
  if (message.type != RTM_NEWLINK || !link) return std::nullopt;
  Macvlan macvlan;
  macvlan.ifindex = static_cast<std::uint32_t>(link->ifi_index);
  macvlan.up = link->ifi_flags & IFF_UP;
  bool is_macvlan = false, has_name = false;
  netlink_attributes_visit(attributes, [&](std::uint16_t type, NetlinkBytes data) {
    if (type == IFLA_IFNAME) has_name = netlink_text(data) == name;
    if (type == IFLA_MTU) macvlan.mtu = netlink_number<std::uint32_t>(data);
    if (type == IFLA_LINK) macvlan.lower = netlink_number<std::uint32_t>(data);
    if (type == IFLA_ADDRESS && data.size() == 6) macvlan.nic = mac_load(data.data());
    if (type == IFLA_LINKINFO) kind_take(macvlan, is_macvlan, data);
  });
  return is_macvlan && has_name ? std::optional(macvlan) : std::nullopt;
}

NetlinkRequest new_request(const PrivateNetwork& network, const MacvlanOptions& options) {
  NetlinkRequest request(RTM_NEWLINK, ifinfomsg{});
  request.flags(NLM_F_CREATE | NLM_F_EXCL);
  text_put(request, IFLA_IFNAME, options.name);
  request.attribute(IFLA_LINK, options.lower);
  request.attribute(IFLA_MTU, options.mtu);
  std::array<std::byte, 6> address;
  mac_store(address.data(), options.nic);
  request.attribute(IFLA_ADDRESS, address.data(), address.size());
  request.attribute(IFLA_NET_NS_FD, static_cast<std::uint32_t>(network.fd()));
  const bool whole = options.mode == MacvlanMode::whole;
  const std::size_t info = request.nest_begin(IFLA_LINKINFO);
  text_put(request, IFLA_INFO_KIND, kKind);
  const std::size_t data = request.nest_begin(IFLA_INFO_DATA);
  request.attribute(IFLA_MACVLAN_MODE, std::uint32_t{whole ? MACVLAN_MODE_PASSTHRU : MACVLAN_MODE_PRIVATE});
  // The NIC's own address is enough: other frames need not come in.
  if (whole) request.attribute(IFLA_MACVLAN_FLAGS, std::uint16_t{MACVLAN_FLAG_NOPROMISC});
  request.nest_end(data);
  request.nest_end(info);
  return request;
}

// Nothing but our packets may leave by the interface, so the kernel's own protocols are off. Kernels without
// IPv6 have no such file.
void ipv6_off(const std::string& name) {
  const std::string path = fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", name);
  const OwnFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.open()) [[maybe_unused]]
    const ssize_t written = ::write(file.get(), "1", 1);
}

int set_up(Netlink& netlink, const std::string& name) {
  ifinfomsg head{};
  head.ifi_flags = IFF_UP | IFF_NOARP;
  head.ifi_change = IFF_UP | IFF_NOARP | IFF_MULTICAST;
  NetlinkRequest request(RTM_NEWLINK, head);
  text_put(request, IFLA_IFNAME, name);
  return netlink.ask(std::move(request));
}

std::string described(const std::string& verb, const std::string& name) {
  return fmt::format("{} the macvlan of {}", verb, name);
}

// Returns the macvlan of that name.
Result<Macvlan> macvlan_there(const PrivateNetwork& network, const std::string& name) {
  auto found = macvlan_find(network, name);
  if (!found) return tl::unexpected(std::move(found.error()));
  if (!*found)
    return fail(link::kNoDevice, fmt::format("the macvlan of {} went away; is the NIC there?", name));
  return **found;
}

}  // namespace

Result<std::optional<Macvlan>> macvlan_find(const PrivateNetwork& network, const std::string& name) {
  std::optional<Macvlan> found;
  const int error = converse_in(network, [&](Netlink& netlink) {
    return netlink.dump(NetlinkRequest(RTM_GETLINK, ifinfomsg{}), [&](const NetlinkMessage& message) {
      if (const auto macvlan = macvlan_take(message, name)) found = macvlan;
    });
  });
  if (error) return tl::unexpected(kernel_failure(described("find", name), error));
  return found;
}

Result<Macvlan> macvlan_make(const PrivateNetwork& network, const MacvlanOptions& options) {
  Netlink netlink(NETLINK_ROUTE);
  const int error = netlink.ask(new_request(network, options));
  if (error == EOPNOTSUPP)
    return fail(link::kFailure, "this kernel has no macvlan: load the module macvlan (CONFIG_MACVLAN)");
  if (error == EBUSY || error == EINVAL)
    return fail(link::kFailure,
                fmt::format("{} cannot have a macvlan ({}): another interface uses it, as a bridge, "
                            "bond or passthru macvlan does; let the broker trust its users there "
                            "(trusted mode)",
                            options.name, std::strerror(error)));
  if (error) return tl::unexpected(kernel_failure(described("make", options.name), error));
  if (const int entered = run_in(network, [&] { ipv6_off(options.name); }))
    return tl::unexpected(kernel_failure(described("enter the network of", options.name), entered));
  return macvlan_there(network, options.name);
}

Result<Macvlan> macvlan_start(const PrivateNetwork& network, const std::string& name) {
  const int error = converse_in(network, [&](Netlink& netlink) { return set_up(netlink, name); });
  if (error == EBUSY || error == EADDRINUSE)
    return fail(link::kBusy,
                fmt::format("the address of the macvlan of {} is taken, as by another broker, which you may "
                            "end, or by jobs of a former one: wait until they end",
                            name));
  if (error) return tl::unexpected(kernel_failure(described("set up", name), error));
  return macvlan_there(network, name);
}

Result<Macvlan> macvlan_adopt(const PrivateNetwork& network, const MacvlanOptions& options) {
  auto found = macvlan_find(network, options.name);
  if (!found) return tl::unexpected(std::move(found.error()));
  const bool same = *found && (*found)->lower == options.lower && (*found)->mode == options.mode &&
                    (*found)->nic == options.nic;
  if (!same) {
    if (auto removed = macvlan_remove(network, options.name); !removed)
      return tl::unexpected(std::move(removed.error()));
    return macvlan_make(network, options);
  }
  if ((*found)->mtu != options.mtu)
    if (auto set = macvlan_set_mtu(network, options.name, options.mtu); !set)
      return tl::unexpected(std::move(set.error()));
  return macvlan_there(network, options.name);
}

Result<void> macvlan_set_mtu(const PrivateNetwork& network, const std::string& name, std::uint32_t mtu) {
  const int error = converse_in(network, [&](Netlink& netlink) {
    NetlinkRequest request(RTM_NEWLINK, ifinfomsg{});
    text_put(request, IFLA_IFNAME, name);
    request.attribute(IFLA_MTU, mtu);
    return netlink.ask(std::move(request));
  });
  if (error) return tl::unexpected(kernel_failure(described("set the MTU of", name), error));
  return {};
}

Result<void> macvlan_remove(const PrivateNetwork& network, const std::string& name) {
  const int error = converse_in(network, [&](Netlink& netlink) {
    NetlinkRequest request(RTM_DELLINK, ifinfomsg{});
    text_put(request, IFLA_IFNAME, name);
    return netlink.ask(std::move(request));
  });
  if (error && error != ENODEV) return tl::unexpected(kernel_failure(described("remove", name), error));
  return {};
}

}  // namespace omx::broker
