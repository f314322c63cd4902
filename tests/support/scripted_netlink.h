// SPDX-License-Identifier: BSD-3-Clause
// A kernel that answers netlink requests by a script.
#pragma once

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "base/netlink.h"

namespace omx {

using Datagram = std::vector<std::byte>;

inline Datagram bytes_of(std::string_view hexadecimal) {
  Datagram bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hexadecimal.substr(i, 2)), nullptr, 16)));
  return bytes;
}

class ScriptedNetlink final : public NetlinkPort {
 public:
  // Sets the answer to the next request that has none yet. Its messages get the number of that request.
  void answer(std::vector<Datagram> datagrams) { answers_.push_back(std::move(datagrams)); }
  // Makes the next receive() fail once.
  void fail_receive(int error) { receive_error_ = error; }

  std::vector<nlmsghdr> requests;  // in the order in which they were sent
  std::vector<Datagram> sent;

  int send(NetlinkBytes request) override {
    nlmsghdr header{};
    std::memcpy(&header, request.data(), sizeof header);
    requests.push_back(header);
    sent.emplace_back(request.begin(), request.end());
    if (answers_.empty()) return ENOTCONN;
    for (Datagram& datagram : answers_.front()) {
      number(datagram, header.nlmsg_seq);
      pending_.push_back(std::move(datagram));
    }
    answers_.pop_front();
    return 0;
  }

  Expected<std::vector<std::byte>, int> receive() override {
    if (receive_error_ != 0) return tl::unexpected<int>(std::exchange(receive_error_, 0));
    if (pending_.empty()) return tl::unexpected<int>(ETIMEDOUT);  // the kernel's answer would never come
    Datagram first = std::move(pending_.front());
    pending_.pop_front();
    return first;
  }

 private:
  static void number(Datagram& datagram, std::uint32_t sequence) {
    std::size_t at = 0;
    nlmsghdr header{};
    while (at + sizeof header <= datagram.size()) {
      std::memcpy(&header, datagram.data() + at, sizeof header);
      if (header.nlmsg_seq != kStray) header.nlmsg_seq = sequence;
      std::memcpy(datagram.data() + at, &header, sizeof header);
      if (header.nlmsg_len < sizeof header) return;
      at += NLMSG_ALIGN(header.nlmsg_len);
    }
  }

 public:
  static constexpr std::uint32_t kStray = 0xffffffff;  // the number of a message that answers nothing

 private:
  std::deque<std::vector<Datagram>> answers_;
  std::deque<Datagram> pending_;
  int receive_error_ = 0;
};

// Returns one message, as a part of a datagram.
inline Datagram netlink_message(std::uint16_t type, std::uint16_t flags, const Datagram& body,
                                std::uint32_t sequence = 0) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = sequence;
  Datagram message(sizeof header);
  std::memcpy(message.data(), &header, sizeof header);
  message.insert(message.end(), body.begin(), body.end());
  message.resize(NLMSG_ALIGN(message.size()));
  return message;
}

// Returns NLMSG_DONE or NLMSG_ERROR with an errno, or 0.
inline Datagram netlink_end(std::uint16_t type, int error, std::uint16_t flags = 0) {
  Datagram body(sizeof(std::int32_t));
  const std::int32_t negative = -error;
  std::memcpy(body.data(), &negative, sizeof negative);
  return netlink_message(type, flags, body);
}

}  // namespace omx
