// SPDX-License-Identifier: BSD-3-Clause
#include "steering/xdp/steer_attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <net/if.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "steering/xdp/libbpf_quiet.h"

namespace omx::steering {

namespace {

std::vector<std::string> interface_names() {
  std::vector<std::string> names;
  struct if_nameindex* all = ::if_nameindex();
  for (const struct if_nameindex* i = all; i && i->if_index != 0; i++) names.emplace_back(i->if_name);
  if (all) ::if_freenameindex(all);
  return names;
}

std::uint32_t mode_flag(XdpMode mode) {
  return mode == XdpMode::native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
}

// Returns 0 or errno. `former` is the program to replace, or -1.
int attach(unsigned index, int program, XdpMode mode, int former) {
  bpf_xdp_attach_opts options{};
  options.sz = sizeof options;
  std::uint32_t flags = mode_flag(mode);
  if (former >= 0)
    options.old_prog_fd = former;
  else
    flags |= XDP_FLAGS_UPDATE_IF_NOEXIST;
  return -::bpf_xdp_attach(static_cast<int>(index), program, flags, &options);
}

bool another_came(int error) {
  return error == EBUSY || error == EEXIST;
}

// Returns whether a driver answers so if it has no native XDP, or not with these settings.
bool cannot_natively(int error) {
  return error == EOPNOTSUPP || error == ENOTSUP || error == ERANGE || error == EINVAL || error == ENOSPC ||
         error == ENOMEM;
}

Failure occupied(const Attachment& other) {
  return {2, fmt::format("{} has another XDP program, \"{}\" (id {}, {}), and an interface takes one; "
                         "if it may go: ip link set dev {} xdp{} off",
                         other.interface, shown(other.name), other.id, xdp_mode_name(other.mode),
                         other.interface, other.mode == XdpMode::generic ? "generic" : "drv")};
}

Failure changed_meanwhile(const std::string& interface) {
  return {2, fmt::format("{} was given another XDP program just now, or holds one by a link of its owner; "
                         "omx steer {} --show shows what is there",
                         interface, interface)};
}

}  // namespace

const char* xdp_mode_name(XdpMode mode) {
  switch (mode) {
    case XdpMode::native:
      return "native";
    case XdpMode::generic:
      return "generic";
    case XdpMode::offloaded:
      break;
  }
  return "offloaded";
}

Result<std::optional<Attachment>> xdp_attached(const std::string& interface) {
  libbpf_silence();
  Attachment found;
  found.interface = interface;
  found.index = ::if_nametoindex(interface.c_str());
  if (found.index == 0) {
    return fail(2, fmt::format("there is no interface {} here; there are: {}", shown(interface),
                               fmt::join(interface_names(), ", ")));
  }
  bpf_xdp_query_opts query{};
  query.sz = sizeof query;
  if (const int error = ::bpf_xdp_query(static_cast<int>(found.index), 0, &query); error < 0)
    return tl::unexpected(kernel_refused(fmt::format("asking for the XDP program of {}", interface), -error));
  if (query.drv_prog_id != 0) {
    found.id = query.drv_prog_id;
  } else if (query.skb_prog_id != 0) {
    found.id = query.skb_prog_id;
    found.mode = XdpMode::generic;
  } else if (query.hw_prog_id != 0) {
    found.id = query.hw_prog_id;
    found.mode = XdpMode::offloaded;
  } else {
    return std::optional<Attachment>();
  }
  auto program = program_open(found.id);
  if (!program) return tl::unexpected(program.error());
  found.program = std::move(*program);
  found.name = program_name(found.program.get());
  found.ours = steer_is_ours(found.program.get());
  return std::optional<Attachment>(std::move(found));
}

Result<std::vector<Attachment>> xdp_attached_all() {
  std::vector<Attachment> all;
  for (const std::string& name : interface_names()) {
    auto one = xdp_attached(name);
    if (!one) {
      if (::if_nametoindex(name.c_str()) == 0) continue;  // gone meanwhile
      return tl::unexpected(one.error());
    }
    if (*one) all.push_back(std::move(**one));
  }
  return all;
}

Result<XdpMode> steer_attach(const std::string& interface, int program, std::optional<XdpMode> wanted) {
  const auto former = xdp_attached(interface);
  if (!former) return tl::unexpected(former.error());
  const unsigned index = ::if_nametoindex(interface.c_str());
  int old = -1;
  if (*former) {
    if (!(*former)->ours) return tl::unexpected(occupied(**former));
    if (wanted && *wanted != (*former)->mode) {
      return fail(2,
                  fmt::format("{} is steered in {} mode, and changes to {} only when nothing is attached: "
                              "omx steer {} --off",
                              interface, xdp_mode_name((*former)->mode), xdp_mode_name(*wanted), interface));
    }
    wanted = (*former)->mode;
    old = (*former)->program.get();
  }
  XdpMode mode = wanted.value_or(XdpMode::native);
  int error = attach(index, program, mode, old);
  if (!wanted && cannot_natively(error)) {
    libbpf_words();
    mode = XdpMode::generic;
    error = attach(index, program, mode, old);
  }
  if (error == 0) return mode;
  if (another_came(error)) return tl::unexpected(changed_meanwhile(interface));
  if (cannot_natively(error) && mode == XdpMode::native) {
    return fail(2, fmt::format("{} takes no XDP program in native mode: {}{}; omx steer {} --mode generic",
                               interface, std::strerror(error), libbpf_words(), interface));
  }
  return tl::unexpected(
      kernel_refused(fmt::format("attaching in {} mode to {}", xdp_mode_name(mode), interface), error));
}

Result<void> steer_detach(const Attachment& attachment) {
  bpf_xdp_attach_opts options{};
  options.sz = sizeof options;
  options.old_prog_fd = attachment.program.get();
  const int error =
      -::bpf_xdp_detach(static_cast<int>(attachment.index), mode_flag(attachment.mode), &options);
  if (error == 0 || error == ENODEV) return {};
  if (another_came(error)) return tl::unexpected(changed_meanwhile(attachment.interface));
  return tl::unexpected(
      kernel_refused(fmt::format("taking the program off {}", attachment.interface), error));
}

}  // namespace omx::steering
