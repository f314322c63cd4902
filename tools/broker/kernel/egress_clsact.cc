// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/egress_clsact.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "base/netlink.h"
#include "netdev/open_failure.h"
#include "tools/broker/kernel/kernel_failure.h"

namespace omx::broker {

namespace {

constexpr std::uint32_t kClsact = TC_H_MAKE(TC_H_CLSACT, 0U);
constexpr std::uint32_t kEgress = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS);
constexpr std::uint32_t kIngress = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS);
constexpr std::string_view kBpfKind = "bpf";
constexpr std::string_view kClsactKind = "clsact";
// The name of our filter says whether we made the clsact, so that a later process knows it.
constexpr std::string_view kOnOthers = "omx_egress";
constexpr std::string_view kOnOwn = "omx_egress,clsact";

tcmsg head(std::uint32_t ifindex, std::uint32_t parent, std::uint32_t handle) {
  tcmsg message{};
  message.tcm_ifindex = static_cast<int>(ifindex);
  message.tcm_parent = parent;
  message.tcm_handle = handle;
  return message;
}

tcmsg filter_head(std::uint32_t ifindex) {
  tcmsg message = head(ifindex, kEgress, kHookHandle);
  message.tcm_info = TC_H_MAKE(std::uint32_t{kHookPriority} << 16, std::uint32_t{htons(ETH_P_ALL)});
  return message;
}

void text_put(NetlinkRequest& request, std::uint16_t type, std::string_view text) {
  request.attribute(type, std::string(text).c_str(), text.size() + 1);
}

NetlinkRequest clsact_request(std::uint16_t type, std::uint32_t ifindex) {
  NetlinkRequest request(type, head(ifindex, TC_H_CLSACT, kClsact));
  text_put(request, TCA_KIND, kClsactKind);
  return request;
}

// The filters of a hook.
struct Filters {
  std::uint32_t count = 0;
  std::string own_name;  // empty: ours is not there
  std::uint32_t own_program = 0;
  bool own_first = false;
};

void filter_take(Filters& filters, const NetlinkMessage& message) {
  NetlinkBytes attributes = message.body;
  const auto seen = netlink_head_take<tcmsg>(attributes);
  if (message.type != RTM_NEWTFILTER || !seen || seen->tcm_handle == 0) return;
  std::string_view kind, name;
  std::uint32_t program = 0;
  netlink_attributes_visit(attributes, [&](std::uint16_t type, NetlinkBytes data) {
    if (type == TCA_KIND) kind = netlink_text(data);
    if (type != TCA_OPTIONS) return;
    netlink_attributes_visit(data, [&](std::uint16_t option, NetlinkBytes value) {
      if (option == TCA_BPF_NAME) name = netlink_text(value);
      if (option == TCA_BPF_ID) program = netlink_number<std::uint32_t>(value);
    });
  });
  filters.count++;
  if (kind != kBpfKind || seen->tcm_handle != kHookHandle || TC_H_MAJ(seen->tcm_info) >> 16 != kHookPriority)
    return;
  filters.own_name = name;
  filters.own_program = program;
  filters.own_first = filters.count == 1;
}

Expected<Filters, int> filters_read(Netlink& netlink, std::uint32_t ifindex, std::uint32_t parent) {
  Filters filters;
  const int error = netlink.dump(NetlinkRequest(RTM_GETTFILTER, head(ifindex, parent, 0)),
                                 [&](const NetlinkMessage& message) { filter_take(filters, message); });
  if (error) return tl::unexpected<int>(error);
  return filters;
}

Failure refused(std::uint32_t ifindex, int error) {
  const std::string name = interface_name(ifindex);
  if (error == EINVAL || error == EEXIST)
    return {link::kBusy,
            fmt::format("cannot add the broker's filter to {}: another kind of filter has the "
                        "egress priority {}; move it to another priority (tc filter show dev {} egress)",
                        name, kHookPriority, name)};
  return kernel_failure(fmt::format("add the broker's filter to the egress of {}", name), error);
}

Result<bool> clsact_make(Netlink& netlink, std::uint32_t ifindex) {
  NetlinkRequest request = clsact_request(RTM_NEWQDISC, ifindex);
  request.flags(NLM_F_CREATE | NLM_F_EXCL);
  const int error = netlink.ask(std::move(request));
  if (error == 0) return true;
  if (error == EEXIST) return false;
  if (error == ENOENT || error == EOPNOTSUPP)
    return fail(link::kFailure,
                "this kernel has no clsact: load the module sch_ingress (CONFIG_NET_SCH_INGRESS)");
  return tl::unexpected(kernel_failure(fmt::format("make a clsact on {}", interface_name(ifindex)), error));
}

}  // namespace

Result<ClsactHook> clsact_find(std::uint32_t ifindex) {
  Netlink netlink(NETLINK_ROUTE);
  const auto filters = filters_read(netlink, ifindex, kEgress);
  if (!filters)
    return tl::unexpected(kernel_failure(
        fmt::format("read the egress filters of {}", interface_name(ifindex)), filters.error()));
  ClsactHook hook;
  if (!filters->own_name.starts_with(kOnOthers)) return hook;
  hook.program_id = filters->own_program;
  hook.own_clsact = filters->own_name == kOnOwn;
  hook.first = filters->own_first;
  return hook;
}

Result<void> clsact_add(std::uint32_t ifindex, int program) {
  Netlink netlink(NETLINK_ROUTE);
  auto made = clsact_make(netlink, ifindex);
  if (!made) return tl::unexpected(std::move(made.error()));
  const auto before = filters_read(netlink, ifindex, kEgress);
  const bool own_clsact = *made || (before && before->own_name == kOnOwn);

  NetlinkRequest request(RTM_NEWTFILTER, filter_head(ifindex));
  request.flags(NLM_F_CREATE);
  text_put(request, TCA_KIND, kBpfKind);
  const std::size_t options = request.nest_begin(TCA_OPTIONS);
  request.attribute(TCA_BPF_FD, static_cast<std::uint32_t>(program));
  text_put(request, TCA_BPF_NAME, own_clsact ? kOnOwn : kOnOthers);
  request.attribute(TCA_BPF_FLAGS, std::uint32_t{TCA_BPF_FLAG_ACT_DIRECT});
  request.nest_end(options);
  const int error = netlink.ask(std::move(request));
  if (error == 0) return {};
  if (*made) netlink.ask(clsact_request(RTM_DELQDISC, ifindex));
  return tl::unexpected(refused(ifindex, error));
}

Result<void> clsact_remove(std::uint32_t ifindex) {
  Netlink netlink(NETLINK_ROUTE);
  auto hook = clsact_find(ifindex);
  if (!hook) return tl::unexpected(std::move(hook.error()));
  if (hook->program_id == 0) return {};
  NetlinkRequest request(RTM_DELTFILTER, filter_head(ifindex));
  text_put(request, TCA_KIND, kBpfKind);
  if (const int error = netlink.ask(std::move(request)); error && error != ENOENT)
    return tl::unexpected(
        kernel_failure(fmt::format("remove the broker's filter from {}", interface_name(ifindex)), error));
  if (!hook->own_clsact) return {};
  const auto out = filters_read(netlink, ifindex, kEgress), in = filters_read(netlink, ifindex, kIngress);
  if (!out || !in || out->count > 0 || in->count > 0) return {};
  if (const int error = netlink.ask(clsact_request(RTM_DELQDISC, ifindex)); error && error != ENOENT)
    return tl::unexpected(
        kernel_failure(fmt::format("remove the clsact of {}", interface_name(ifindex)), error));
  return {};
}

}  // namespace omx::broker
