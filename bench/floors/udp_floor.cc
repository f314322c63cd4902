// SPDX-License-Identifier: BSD-3-Clause
// omx_udp_floor: half round trips of messages by bare UDP, without any protocol. The kernel cuts GSO batches
// into datagrams (UDP_SEGMENT) and hands them over merged (UDP_GRO), straight into their place. No program
// without privileges can be faster. It ends if a datagram is lost.
#include <time.h>

#include <netdb.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "bench/floors/floor_report.h"
#include "bench/floors/zerocopy_reports.h"
#include "link/udp/udp_segment.h"

namespace {

using namespace omx::bench;

struct UdpOptions : Options {
  std::string address;  // this host's
  std::string peer;     // the server's
  std::string port = "7787";
  std::size_t datagram = 1472;  // fits an MTU of 1500
  std::size_t window = 128 << 10;
  bool zerocopy = false;
};

constexpr std::size_t kBatch = 65507;
constexpr std::size_t kSegments = 64;
constexpr double kLostSeconds = 5;
constexpr std::uint64_t kMagic = 0x4F4D58554450;

struct Request {
  std::uint64_t magic = kMagic, size = 0, count = 0, datagram = 0, window = 0;
};

addrinfo* resolve(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); code != 0)
    die(1, "{}: {}", host, ::gai_strerror(code));
  return found;
}

class Peer {
 public:
  Peer(const addrinfo& own, bool bound) : fd_(::socket(own.ai_family, SOCK_DGRAM, 0)) {
    const int one = 1, buffer = 4 << 20;
    ::setsockopt(fd_, SOL_UDP, UDP_GRO, &one, sizeof one);
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    if (bound && ::bind(fd_, own.ai_addr, own.ai_addrlen) != 0) die(1, "bind: {}", std::strerror(errno));
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { ::close(fd_); }

  void connect(const sockaddr* address, socklen_t length) {
    if (::connect(fd_, address, length) != 0) die(1, "connect: {}", std::strerror(errno));
  }
  int fd() const { return fd_; }
  // Makes the kernel send large batches straight from user memory, if it can.
  void zerocopy_try() {
    const int one = 1;
    if (::setsockopt(fd_, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) != 0)
      die(1, "SO_ZEROCOPY: {}", std::strerror(errno));
    zerocopy_ = true;
  }
  // Reads the kernel's reports on such sends: which memory is free again, and how many sends were copied
  // after all.
  void zerocopy_look() {
    if (!zerocopy_) return;
    omx::bench::zerocopy_reports_read(fd_, [this](std::uint64_t sends, bool copied) {
      done_ += sends;
      if (copied) copied_ += sends;
    });
  }
  void zerocopy_report() {
    if (zerocopy_)
      fmt::print(stderr, "{} GSO batches sent without copy, {} of them copied by the kernel\n", done_,
                 copied_);
  }

  // Polls for a datagram. Ends the program after kLostSeconds.
  std::size_t receive(void* data, std::size_t size) {
    const Clock::time_point start = Clock::now();
    for (unsigned looks = 0;; looks++) {
      const ssize_t got = ::recv(fd_, data, size, MSG_DONTWAIT);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EAGAIN && errno != EINTR) die(1, "recv: {}", std::strerror(errno));
      if (looks % 1024 == 1023 && seconds_between(start, Clock::now()) > kLostSeconds)
        die(1, "no datagram came for {} s: one was lost", kLostSeconds);
    }
  }
  void send(const void* data, std::size_t size, std::size_t segment) {
    iovec piece{const_cast<void*>(data), size};
    omx::link::UdpSegment cut;
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (size > segment) cut.attach(message, segment);
    constexpr std::size_t kLong = 16 << 10;
    const int flags = zerocopy_ && size >= kLong ? MSG_DONTWAIT | MSG_ZEROCOPY : MSG_DONTWAIT;
    if (flags != MSG_DONTWAIT) zerocopy_look();
    while (::sendmsg(fd_, &message, flags) < 0)
      if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) die(1, "sendmsg: {}", std::strerror(errno));
  }

 private:
  int fd_;
  bool zerocopy_ = false;
  std::uint64_t done_ = 0, copied_ = 0;
};

// Exchanges messages of one size.
class Exchange {
 public:
  Exchange(Peer& peer, const Request& request)
      : peer_(peer),
        size_(request.size),
        segment_(request.datagram),
        batch_(std::min(kBatch / segment_, kSegments) * segment_),
        window_(std::max<std::size_t>(request.window, 2 * batch_)),
        buffer_(new char[std::max<std::size_t>(size_, 1)]()) {}

  void send() {
    std::size_t credit = window_;
    for (std::size_t at = 0; at < size_;) {
      const std::size_t part = std::min(batch_, size_ - at);
      while (credit < part) {
        char credited;
        peer_.receive(&credited, 1);
        credit += window_ / 2;
      }
      peer_.send(buffer_.get() + at, part, segment_);
      credit -= part;
      at += part;
    }
    if (size_ == 0) peer_.send(buffer_.get(), 0, segment_);
  }

  void receive() {
    std::size_t credited = 0;
    if (size_ == 0) peer_.receive(buffer_.get(), 1);
    for (std::size_t at = 0; at < size_;) {
      at += peer_.receive(buffer_.get() + at, size_ - at);
      // Sends only the credits without which the sender would stop.
      while (at - credited >= window_ / 2 && credited + window_ < size_) {
        credited += window_ / 2;
        peer_.send("", 1, segment_);
      }
    }
  }

 private:
  Peer& peer_;
  std::size_t size_, segment_, batch_, window_;
  std::unique_ptr<char[]> buffer_;
};

void serve(const UdpOptions& options) {
  addrinfo* own = resolve(options.address, options.port, AI_PASSIVE);
  Peer peer(*own, true);
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  Request request;
  if (::recvfrom(peer.fd(), &request, sizeof request, 0, reinterpret_cast<sockaddr*>(&from), &length) !=
          static_cast<ssize_t>(sizeof request) ||
      request.magic != kMagic)
    die(1, "the first datagram is not a request");
  peer.connect(reinterpret_cast<const sockaddr*>(&from), length);
  while (request.count > 0) {
    peer.send(&request, sizeof request, options.datagram);
    Exchange exchange(peer, request);
    for (std::uint64_t i = 0; i < request.count; i++) {
      exchange.receive();
      exchange.send();
    }
    if (peer.receive(&request, sizeof request) != sizeof request || request.magic != kMagic)
      die(1, "a datagram is not a request");
  }
  ::freeaddrinfo(own);
}

void measure(UdpOptions& options) {
  addrinfo* server = resolve(options.peer, options.port, 0);
  Peer peer(*server, false);
  peer.connect(server->ai_addr, server->ai_addrlen);
  if (options.zerocopy) peer.zerocopy_try();
  ::freeaddrinfo(server);
  Report report("udp", options);
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (const std::size_t size : options.sizes) {
      // Large sizes take about as long as small ones.
      const int count = std::max(options.iterations / static_cast<int>(1 + size / 4096), 10);
      const int warm_up = std::max(count / 10, 2);
      Request request{kMagic, size, static_cast<std::uint64_t>(count + warm_up), options.datagram,
                      options.window};
      peer.send(&request, sizeof request, options.datagram);
      if (peer.receive(&request, sizeof request) != sizeof request) die(1, "the server gives no answer");
      Exchange exchange(peer, request);
      Clock::time_point before = Clock::now();
      for (int i = 0; i < warm_up + count; i++) {
        exchange.send();
        exchange.receive();
        const Clock::time_point now = Clock::now();
        if (i >= warm_up) report.latency(size, seconds_between(before, now) / 2 * 1e6);
        before = now;
      }
    }
  }
  const Request end;
  peer.send(&end, sizeof end, options.datagram);
  report.print_latency();
  peer.zerocopy_look();
  peer.zerocopy_report();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Half round trips of messages by bare UDP between two hosts");
  app.require_subcommand(1);
  UdpOptions options;
  CLI::App* server = app.add_subcommand("server", "answer a client");
  server->add_option("--address", options.address, "address of this host")->required();
  server->add_option("--cpu", options.cpu, "the core to run on");
  CLI::App* client = app.add_subcommand("client", "measure and print");
  client->add_option("--peer", options.peer, "address of the server")->required();
  client->add_option("--datagram", options.datagram, "bytes of a datagram: the MTU less the headers")
      ->check(CLI::Range(64, 65507));
  client->add_flag("--zerocopy", options.zerocopy,
                   "send without copy (MSG_ZEROCOPY), and print how often that happened");
  client->add_option("--window", options.window, "most bytes in flight");
  add_client_options(*client, options);
  CLI11_PARSE(app, argc, argv);
  pin(options.cpu);
  if (*server) {
    serve(options);
  } else {
    if (options.sizes.empty()) options.sizes = {1, 1 << 10, 64 << 10, 4 << 20};
    measure(options);
  }
  return 0;
}
