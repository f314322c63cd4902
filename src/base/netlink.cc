// SPDX-License-Identifier: BSD-3-Clause
#include "base/netlink.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/own_fd.h"

namespace omx {

namespace {

// The most that the kernel sends in one datagram, unless a single object is larger.
constexpr std::size_t kDatagramBytes = 32U << 10;

class NetlinkSocket final : public NetlinkPort {
 public:
  explicit NetlinkSocket(int protocol)
      : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)), error_(fd_.open() ? 0 : errno) {}

  int send(NetlinkBytes request) override {
    if (!fd_.open()) return error_;
    while (::send(fd_.get(), request.data(), request.size(), 0) < 0)
      if (errno != EINTR) return errno;
    return 0;
  }

  Expected<std::vector<std::byte>, int> receive() override {
    for (;;) {
      const ssize_t size = ::recv(fd_.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return tl::unexpected<int>(errno);
      std::vector<std::byte> datagram(std::max(static_cast<std::size_t>(size), kDatagramBytes));
      sockaddr_nl from{};
      socklen_t from_size = sizeof from;
      const ssize_t got = ::recvfrom(fd_.get(), datagram.data(), datagram.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &from_size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tl::unexpected<int>(errno);
      if (from.nl_pid != 0) continue;  // not from the kernel
      datagram.resize(static_cast<std::size_t>(got));
      return datagram;
    }
  }

 private:
  OwnFd fd_;
  int error_ = 0;
};

}  // namespace

void NetlinkRequest::append(const void* data, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), from, from + size);
  bytes_.resize(NLMSG_ALIGN(bytes_.size()));
}

void NetlinkRequest::attribute(std::uint16_t type, const void* data, std::size_t size) {
  const nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + size), type};
  append(&head, sizeof head);
  append(data, size);
}

std::size_t NetlinkRequest::nest_begin(std::uint16_t type) {
  const std::size_t begun = bytes_.size();
  attribute(type, nullptr, 0);
  return begun;
}

void NetlinkRequest::nest_end(std::size_t begun) {
  const auto length = static_cast<std::uint16_t>(bytes_.size() - begun);
  std::memcpy(bytes_.data() + begun, &length, sizeof length);
}

NetlinkBytes NetlinkRequest::finish(std::uint16_t flags, std::uint32_t sequence) {
  nlmsghdr header{};
  std::memcpy(&header, bytes_.data(), sizeof header);
  header.nlmsg_len = static_cast<std::uint32_t>(bytes_.size());
  header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags_ | flags);
  header.nlmsg_seq = sequence;
  std::memcpy(bytes_.data(), &header, sizeof header);
  return bytes_;
}

struct Netlink::Answer {
  std::uint32_t sequence = 0;
  std::vector<std::vector<std::byte>> datagrams;
  std::vector<NetlinkMessage> messages;  // within the datagrams
  bool torn = false;
  int error = 0;
};

Netlink::Netlink(int protocol) : port_(std::make_unique<NetlinkSocket>(protocol)) {}

// Returns whether more is to come.
bool Netlink::take(NetlinkBytes rest, Answer& answer) const {
  nlmsghdr header{};
  while (!rest.empty()) {
    answer.error = EIO;
    if (rest.size() < sizeof header) return false;
    std::memcpy(&header, rest.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > rest.size()) return false;
    answer.error = 0;
    const NetlinkBytes body = rest.subspan(sizeof header, header.nlmsg_len - sizeof header);
    rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), rest.size()));
    if (header.nlmsg_seq != answer.sequence) continue;  // answers a question that was given up
    if (header.nlmsg_flags & NLM_F_DUMP_INTR) answer.torn = true;
    if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
      const auto error = netlink_number<std::int32_t>(body);
      answer.error = error < 0 ? -error : 0;
      return false;
    }
    if (header.nlmsg_type >= NLMSG_MIN_TYPE) answer.messages.push_back({header.nlmsg_type, body});
  }
  return true;  // whatever the flags say, as not every family sets NLM_F_MULTI
}

int Netlink::converse(NetlinkRequest& request, std::uint16_t flags, Answer& answer) {
  answer.sequence = ++sequence_;
  if (const int error = port_->send(request.finish(flags, answer.sequence))) return error;
  do {
    auto datagram = port_->receive();
    if (!datagram) return datagram.error();
    answer.datagrams.push_back(std::move(*datagram));
  } while (take(answer.datagrams.back(), answer));
  return answer.error;
}

int Netlink::ask(NetlinkRequest request, const See& see) {
  Answer answer;
  if (const int error = converse(request, NLM_F_ACK, answer)) return error;
  if (!see) return 0;
  for (const NetlinkMessage& message : answer.messages) see(message);
  return 0;
}

int Netlink::dump(NetlinkRequest request, const See& see) {
  for (int attempt = 0; attempt < kMostAttempts; attempt++) {
    Answer answer;
    const int error = converse(request, NLM_F_DUMP, answer);
    // Families without the flag end a torn dump with EINTR, and a busy one with EBUSY. ENOBUFS means that a
    // part of the answer was lost.
    if (error == EINTR || error == EBUSY || error == ENOBUFS || (error == 0 && answer.torn)) continue;
    if (error) return error;
    for (const NetlinkMessage& message : answer.messages) see(message);
    return 0;
  }
  return EAGAIN;
}

std::string_view netlink_text(NetlinkBytes data) {
  const auto* text = reinterpret_cast<const char*>(data.data());
  return {text, ::strnlen(text, data.size())};
}

}  // namespace omx
