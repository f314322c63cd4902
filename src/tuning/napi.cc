// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/napi.h"

#include <fmt/format.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/number.h"
#include "base/own_fd.h"

namespace omx::tuning {

namespace {

// Of linux/netdev.h, which is newer than many build machines.
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

constexpr std::size_t kReplyBytes = 32U << 10;  // what the kernel sends at most at once
using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& out, const T& value) {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), from, from + sizeof value);
}

void attribute_put(Bytes& out, std::uint16_t type, const void* data, std::size_t size) {
  put(out, nlattr{static_cast<std::uint16_t>(NLA_HDRLEN + size), type});
  const auto* from = static_cast<const std::byte*>(data);
  out.insert(out.end(), from, from + size);
  out.resize(NLA_ALIGN(out.size()));
}

Bytes request_begin(std::uint16_t family, std::uint16_t flags, std::uint8_t command) {
  Bytes out;
  nlmsghdr header{};
  header.nlmsg_type = family;
  header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  put(out, header);
  put(out, genlmsghdr{command, 1, 0});
  return out;
}

// Numbers come with as many bytes as they need.
std::uint64_t number_of(std::span<const std::byte> data) {
  std::uint64_t value = 0;
  if (data.size() == sizeof(std::uint32_t)) {
    std::uint32_t half = 0;
    std::memcpy(&half, data.data(), sizeof half);
    value = half;
  } else if (data.size() >= sizeof value) {
    std::memcpy(&value, data.data(), sizeof value);
  }
  return value;
}

// Calls see(type, data) for each.
template <class See>
void attributes_visit(std::span<const std::byte> rest, See see) {
  nlattr head{};
  while (rest.size() >= sizeof head) {
    std::memcpy(&head, rest.data(), sizeof head);
    if (head.nla_len < NLA_HDRLEN || head.nla_len > rest.size()) return;
    see(static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK),
        rest.subspan(NLA_HDRLEN, head.nla_len - std::size_t{NLA_HDRLEN}));
    rest = rest.subspan(std::min<std::size_t>(NLA_ALIGN(head.nla_len), rest.size()));
  }
}

// Calls see(attributes) for each message; returns as napis_parse.
template <class See>
Expected<bool, int> messages_visit(std::span<const std::byte> rest, See see) {
  constexpr std::size_t kHead = NLMSG_HDRLEN + GENL_HDRLEN;
  nlmsghdr header{};
  while (rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > rest.size()) return tl::unexpected<int>(EIO);
    const auto message = rest.first(header.nlmsg_len);
    if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
      std::int32_t error = 0;
      if (message.size() >= NLMSG_HDRLEN + sizeof error)
        std::memcpy(&error, message.data() + NLMSG_HDRLEN, sizeof error);
      if (error < 0) return tl::unexpected<int>(-error);
      return false;
    }
    if (message.size() < kHead) return tl::unexpected<int>(EIO);
    see(message.subspan(kHead));
    rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), rest.size()));
  }
  return true;  // dumps of this family do not say NLM_F_MULTI
}

class Conversation {
 public:
  Conversation() : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC)) {}

  // Gives what is answered to `take`, which returns as napis_parse; 0 or errno.
  template <class Take>
  int ask(Bytes request, Take take) {
    if (!fd_.open()) return errno;
    const auto size = static_cast<std::uint32_t>(request.size());
    std::memcpy(request.data(), &size, sizeof size);
    if (::send(fd_.get(), request.data(), request.size(), 0) < 0) return errno;
    Bytes reply(kReplyBytes);
    for (;;) {
      const ssize_t got = ::recv(fd_.get(), reply.data(), reply.size(), 0);
      if (got < 0) return errno;
      const auto more = take(std::span<const std::byte>(reply).first(static_cast<std::size_t>(got)));
      if (!more) return more.error();
      if (!*more) return 0;
    }
  }

  // Its number; EOPNOTSUPP: this kernel has no such family.
  Expected<std::uint16_t, int> family() {
    Bytes request = request_begin(GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY);
    attribute_put(request, CTRL_ATTR_FAMILY_NAME, kFamily, sizeof kFamily);
    std::uint16_t number = 0;
    const int error = ask(std::move(request), [&number](std::span<const std::byte> datagram) {
      return messages_visit(datagram, [&number](std::span<const std::byte> attributes) {
        attributes_visit(attributes, [&number](std::uint16_t type, std::span<const std::byte> data) {
          if (type == CTRL_ATTR_FAMILY_ID && data.size() >= sizeof number)
            std::memcpy(&number, data.data(), sizeof number);
        });
      });
    });
    if (error == ENOENT || (error == 0 && number == 0)) return tl::unexpected<int>(EOPNOTSUPP);
    if (error) return tl::unexpected<int>(error);
    return number;
  }

 private:
  OwnFd fd_;
};

Napi napi_of(std::span<const std::byte> attributes) {
  Napi napi;
  attributes_visit(attributes, [&napi](std::uint16_t type, std::span<const std::byte> data) {
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

Expected<bool, int> napis_parse(std::span<const std::byte> datagram, std::vector<Napi>& found) {
  return messages_visit(
      datagram, [&found](std::span<const std::byte> attributes) { found.push_back(napi_of(attributes)); });
}

Expected<std::vector<Napi>, int> napis_read(std::uint32_t ifindex) {
  Conversation conversation;
  const auto family = conversation.family();
  if (!family) return tl::unexpected<int>(family.error());
  Bytes request = request_begin(*family, NLM_F_DUMP, kNapiGet);
  attribute_put(request, kIfindex, &ifindex, sizeof ifindex);
  std::vector<Napi> found;
  const int error = conversation.ask(std::move(request), [&found](std::span<const std::byte> datagram) {
    return napis_parse(datagram, found);
  });
  if (error) return tl::unexpected<int>(error);
  std::sort(found.begin(), found.end(), [](const Napi& a, const Napi& b) { return a.id < b.id; });
  return found;
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
  Conversation conversation;
  const auto family = conversation.family();
  if (!family) return family.error();
  Bytes request = request_begin(*family, NLM_F_ACK, kNapiSet);
  attribute_put(request, kId, &which.id, sizeof which.id);
  const auto half = static_cast<std::uint32_t>(value);
  if (which.field == kNapiDefer)
    attribute_put(request, kDefer, &half, sizeof half);
  else if (value <= std::numeric_limits<std::uint32_t>::max())
    attribute_put(request, kFlush, &half, sizeof half);
  else
    attribute_put(request, kFlush, &value, sizeof value);
  return conversation.ask(std::move(request), [](std::span<const std::byte> datagram) {
    return messages_visit(datagram, [](std::span<const std::byte>) {});
  });
}

}  // namespace omx::tuning
