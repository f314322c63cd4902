// SPDX-License-Identifier: BSD-3-Clause
// Requests to the kernel by netlink. Errors are errno values.
//
// The kernel answers a dump in parts. When the objects change between two parts, it marks the answer as torn
// (NLM_F_DUMP_INTR): an object may be missing or come twice. A torn dump is requested again, so callers see
// only whole answers.
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

// A request that is being built: the message's type, the family's own header, and attributes.
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
  // Begins an attribute that holds the attributes up to nest_end(). Returns what nest_end() needs.
  std::size_t nest_begin(std::uint16_t type);
  void nest_end(std::size_t begun);
  // Sets flags that go with the type: NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE.
  void flags(std::uint16_t flags) { flags_ = flags; }

  // Completes the header and returns the bytes of the request.
  NetlinkBytes finish(std::uint16_t flags, std::uint32_t sequence);

 private:
  void append(const void* data, std::size_t size);

  std::vector<std::byte> bytes_;
  std::uint16_t flags_ = 0;
};

// One message of an answer. `body` is what follows the netlink header.
struct NetlinkMessage {
  std::uint16_t type = 0;
  NetlinkBytes body;
};

// Sends and receives the datagrams. Tests use a scripted one.
class NetlinkPort {
 public:
  virtual ~NetlinkPort() = default;
  // Returns 0 or errno.
  virtual int send(NetlinkBytes request) = 0;
  // Returns the next datagram from the kernel.
  virtual Expected<std::vector<std::byte>, int> receive() = 0;
};

// Not thread-safe. The kernel answers within the caller's system calls, so no call waits for another process.
class Netlink {
 public:
  using See = std::function<void(const NetlinkMessage&)>;

  // Opens a socket of `protocol`: NETLINK_ROUTE, NETLINK_GENERIC, ... If the socket cannot be made, each
  // request returns the reason.
  explicit Netlink(int protocol);
  explicit Netlink(std::unique_ptr<NetlinkPort> port) : port_(std::move(port)) {}

  // Sends the request once, and calls `see` for each message of the answer.
  int ask(NetlinkRequest request, const See& see = {});

  // Requests all objects of a kind. Calls `see` for each of them once the answer is known to be whole.
  // Returns EAGAIN if kMostAttempts answers were torn because the objects kept changing.
  int dump(NetlinkRequest request, const See& see);
  static constexpr int kMostAttempts = 16;

 private:
  struct Answer;
  int converse(NetlinkRequest& request, std::uint16_t flags, Answer& answer);
  bool take(NetlinkBytes datagram, Answer& answer) const;

  std::unique_ptr<NetlinkPort> port_;
  std::uint32_t sequence_ = 0;
};

// Calls see(type, data) for each attribute of `rest`. Stops at a malformed one.
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

// Takes the family's header, with its padding, from the front of `body`. Returns nullopt if `body` is too
// short.
template <class Head>
std::optional<Head> netlink_head_take(NetlinkBytes& body) {
  Head head{};
  if (body.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, body.data(), sizeof head);
  body = body.subspan(std::min<std::size_t>(NLMSG_ALIGN(sizeof head), body.size()));
  return head;
}

// Returns the value of a numeric attribute. The value has as many bytes as the kernel gave it, and is 0 if
// these are too few.
template <class Number>
Number netlink_number(NetlinkBytes data) {
  Number number = 0;
  if (data.size() >= sizeof number) std::memcpy(&number, data.data(), sizeof number);
  return number;
}
std::string_view netlink_text(NetlinkBytes data);

}  // namespace omx
