// SPDX-License-Identifier: BSD-3-Clause
// Questions to the kernel by netlink. Errors are errno values.
//
// The kernel answers a dump in parts. When the objects change between two parts, it flags the answer as torn
// (NLM_F_DUMP_INTR): an object may be missing then, or come twice. A torn dump is asked for again, so what is
// handed on is whole.
#pragma once

#include <linux/netlink.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/expected.h"

namespace omx {

using NetlinkBytes = std::span<const std::byte>;

// A request that is being built: the type of the message, the family's own header, and attributes.
class NetlinkRequest {
 public:
  template <class Head>
  NetlinkRequest(std::uint16_t type, const Head& head) : bytes_(sizeof(nlmsghdr)) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    std::memcpy(bytes_.data(), &header, sizeof header);
    append(&head, sizeof head);
  }

  void attribute(std::uint16_t type, const void* data, std::size_t size);
  template <class Number>
  void attribute(std::uint16_t type, const Number& number) {
    attribute(type, &number, sizeof number);
  }

  // The bytes of the request, with its length.
  NetlinkBytes finish(std::uint16_t flags, std::uint32_t sequence);

 private:
  void append(const void* data, std::size_t size);

  std::vector<std::byte> bytes_;
};

// One message of an answer. The body is what follows the netlink header.
struct NetlinkMessage {
  std::uint16_t type = 0;
  NetlinkBytes body;
};

// What datagrams go through. Tests have a scripted one.
class NetlinkPort {
 public:
  virtual ~NetlinkPort() = default;
  // Returns 0 or errno.
  virtual int send(NetlinkBytes request) = 0;
  // The next datagram of the kernel.
  virtual Expected<std::vector<std::byte>, int> receive() = 0;
};

// Not thread-safe. The kernel answers within the caller's system calls, so nothing here waits for others.
class Netlink {
 public:
  using See = std::function<void(const NetlinkMessage&)>;

  // NETLINK_ROUTE, NETLINK_GENERIC, ... Where no socket is to be had, each question returns the reason.
  explicit Netlink(int protocol);
  explicit Netlink(std::unique_ptr<NetlinkPort> port) : port_(std::move(port)) {}

  // Asks once, and calls `see` for each message of the answer, if there are any.
  int ask(NetlinkRequest request, const See& see = {});

  // Asks for all objects of a kind, and calls `see` for each, once the answer is known to be whole. EAGAIN:
  // kMostAttempts answers were torn, as the objects never stopped changing.
  int dump(NetlinkRequest request, const See& see);
  static constexpr int kMostAttempts = 16;

 private:
  struct Answer;
  int converse(NetlinkRequest& request, std::uint16_t flags, Answer& answer);
  bool take(NetlinkBytes datagram, Answer& answer) const;

  std::unique_ptr<NetlinkPort> port_;
  std::uint32_t sequence_ = 0;
};

// Calls see(type, data) for each attribute of `rest`. Stops at one that is malformed.
template <class See>
void netlink_attributes_visit(NetlinkBytes rest, See see) {
  nlattr head{};
  while (rest.size() >= sizeof head) {
    std::memcpy(&head, rest.data(), sizeof head);
    if (head.nla_len < NLA_HDRLEN || head.nla_len > rest.size()) return;
    see(static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK),
        rest.subspan(NLA_HDRLEN, head.nla_len - std::size_t{NLA_HDRLEN}));
    rest = rest.subspan(std::min<std::size_t>(NLA_ALIGN(head.nla_len), rest.size()));
  }
}

// The family's header at the front of `body`, which is taken away with its padding; nothing: it is too short.
template <class Head>
std::optional<Head> netlink_head_take(NetlinkBytes& body) {
  Head head{};
  if (body.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, body.data(), sizeof head);
  body = body.subspan(std::min<std::size_t>(NLMSG_ALIGN(sizeof head), body.size()));
  return head;
}

// Values of attributes. A number has as many bytes as the kernel gave it; 0 where it has too few.
template <class Number>
Number netlink_number(NetlinkBytes data) {
  Number number = 0;
  if (data.size() >= sizeof number) std::memcpy(&number, data.data(), sizeof number);
  return number;
}
std::string_view netlink_text(NetlinkBytes data);

}  // namespace omx
