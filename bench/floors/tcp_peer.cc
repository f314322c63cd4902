// SPDX-License-Identifier: BSD-3-Clause
// omx_tcp_peer: the two tests of omx_floor over a TCP connection, as fast as the socket API permits. It uses
// TCP_NODELAY and the kernel's own tuning of buffers, and waits in the kernel only if requested.
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/floors/floor_report.h"

namespace {

using namespace omx::bench;

struct TcpOptions : Options {
  std::string peer;
  std::string port = "7786";
  bool blocking = false;
  std::string control;                   // congestion control; empty: the kernel's default
  std::uint64_t warm_bytes = 64U << 20;  // warm-up of a stream
};

constexpr std::uint32_t kPingPong = 1;
constexpr std::uint32_t kStream = 2;

// The client's next request. Both ends run the same program.
struct Request {
  std::uint32_t test = 0;
  std::uint32_t blocking = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
};

class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {
    const int one = 1;
    if (::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
      die(1, "TCP_NODELAY: {}", std::strerror(errno));
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(fd_); }

  void set_control(const std::string& name) {
    if (name.empty()) return;
    if (::setsockopt(fd_, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) < 0)
      die(1, "--control {}: {}; choose one of /proc/sys/net/ipv4/tcp_available_congestion_control", name,
          std::strerror(errno));
  }
  void set_blocking(bool blocking) { flags_ = blocking ? 0 : MSG_DONTWAIT; }

  void send(const void* data, std::size_t size) {
    const char* next = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t sent = ::send(fd_, next, size, flags_ | MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR) die(1, "send: {}", std::strerror(errno));
        continue;
      }
      next += sent;
      size -= static_cast<std::size_t>(sent);
    }
  }

  // Receives `size` bytes. Returns false at the end of the connection.
  bool receive(void* data, std::size_t size) {
    char* next = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t got = ::recv(fd_, next, size, flags_);
      if (got == 0) return false;
      if (got < 0) {
        if (errno != EAGAIN && errno != EINTR) die(1, "recv: {}", std::strerror(errno));
        continue;
      }
      next += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
  int flags_ = 0;
};

addrinfo* resolve(const TcpOptions& options, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = passive ? AI_PASSIVE : 0;
  addrinfo* list = nullptr;
  const int error =
      ::getaddrinfo(passive ? nullptr : options.peer.c_str(), options.port.c_str(), &hints, &list);
  if (error)
    die(1, "{} port {}: {}", passive ? "listening" : options.peer, options.port, ::gai_strerror(error));
  return list;
}

int connect_to(const TcpOptions& options) {
  constexpr int kTries = 200;  // the server may start a little later than this client
  addrinfo* list = resolve(options, false);
  for (int i = 0; i < kTries; i++) {
    const int fd = ::socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, 0);
    if (::connect(fd, list->ai_addr, list->ai_addrlen) == 0) {
      ::freeaddrinfo(list);
      return fd;
    }
    ::close(fd);
    ::usleep(50000);
  }
  die(1, "cannot connect to {} port {}: {}", options.peer, options.port, std::strerror(errno));
}

int listen_on(const TcpOptions& options) {
  addrinfo* list = resolve(options, true);
  const int fd = ::socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (::bind(fd, list->ai_addr, list->ai_addrlen) < 0 || ::listen(fd, 1) < 0) {
    die(1, "cannot listen on port {}: {}", options.port, std::strerror(errno));
  }
  ::freeaddrinfo(list);
  return fd;
}

std::vector<char> make_buffer(std::size_t size) {
  return std::vector<char>(std::max(size, kMessageBytes), 1);
}

void serve(Connection& connection) {
  std::vector<char> buffer = make_buffer(kMessageBytes);
  Request request;
  while (connection.receive(&request, sizeof request)) {
    if (request.size > buffer.size()) buffer = make_buffer(request.size);
    connection.set_blocking(request.blocking);
    // Small messages of a stream cycle through the whole buffer, as in the floor's stream.
    const std::uint64_t places = request.size && request.test == kStream ? buffer.size() / request.size : 1;
    for (std::uint64_t i = 0; i < request.count; i++) {
      if (!connection.receive(&buffer[i % places * request.size], request.size)) return;
      if (request.test == kPingPong) connection.send(buffer.data(), request.size);
    }
    if (request.test == kStream) connection.send(buffer.data(), 1);
    connection.set_blocking(true);
  }
}

void server(const TcpOptions& options) {
  const int listener = listen_on(options);
  do {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) die(1, "accept: {}", std::strerror(errno));
    Connection connection(fd);
    serve(connection);
  } while (options.forever);
  ::close(listener);
}

void pingpong(const TcpOptions& options) {
  Connection connection(connect_to(options));
  connection.set_blocking(options.blocking);
  Report report(options.blocking ? "tcp-pingpong-blocking" : "tcp-pingpong", options);
  std::vector<char> buffer = make_buffer(*std::max_element(options.sizes.begin(), options.sizes.end()));
  for (std::size_t size : options.sizes) {
    report.reserve(size,
                   static_cast<std::size_t>(options.iterations) * static_cast<std::size_t>(options.repeats));
  }
  TimeLimit limit(options);
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (std::size_t size : options.sizes) {
      if (limit.over()) continue;  // the server still waits for the rest of the last size
      const std::uint64_t count =
          static_cast<std::uint64_t>(options.warm_up) + static_cast<std::uint64_t>(options.iterations);
      const Request request{kPingPong, options.blocking, size, count};
      connection.send(&request, sizeof request);
      Clock::time_point before = Clock::now();
      for (int i = -options.warm_up; i < options.iterations && !limit.over(); i++) {
        connection.send(buffer.data(), size);
        if (!connection.receive(buffer.data(), size)) die(1, "the server has ended");
        const Clock::time_point after = Clock::now();
        if (i >= 0) report.latency(size, seconds_between(before, after) * 1e6 / 2);
        before = after;
        limit.look(after);
      }
    }
  }
  report.print_latency();
}

// Returns the seconds from the first message to the answer that all `count` messages have arrived.
double stream_once(Connection& connection, std::vector<char>& buffer, const Request& request) {
  connection.send(&request, sizeof request);
  const std::uint64_t places = buffer.size() / request.size;
  const Clock::time_point start = Clock::now();
  for (std::uint64_t i = 0; i < request.count; i++) {
    connection.send(&buffer[i % places * request.size], request.size);
  }
  char answer;
  if (!connection.receive(&answer, 1)) die(1, "the server has ended");
  return seconds_between(start, Clock::now());
}

void stream(const TcpOptions& options) {
  Connection connection(connect_to(options));
  connection.set_control(options.control);
  connection.set_blocking(options.blocking);
  Report report(options.blocking ? "tcp-stream-blocking" : "tcp-stream", options);
  std::vector<char> buffer = make_buffer(*std::max_element(options.sizes.begin(), options.sizes.end()));
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (std::size_t size : options.sizes) {
      // The warm-up also shows how many messages fill the time.
      Request request{kStream, options.blocking, size, 1 + options.warm_bytes / size};
      const double each = stream_once(connection, buffer, request) / static_cast<double>(request.count);
      request.count = 1 + static_cast<std::uint64_t>(options.seconds / each);
      const double seconds = stream_once(connection, buffer, request);
      const double per_second = static_cast<double>(request.count) / seconds;
      report.rate(size, per_second * static_cast<double>(size) * 8e-9, per_second * 1e-6);
    }
  }
  report.print_rate();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Latency and rate of a TCP connection between two hosts, measured as omx_floor measures");
  app.require_subcommand(1);
  TcpOptions options;
  CLI::App* server_role = app.add_subcommand("server", "answer a client, for both tests");
  add_server_options(*server_role, options);
  CLI::App* pingpong_role = app.add_subcommand("pingpong", "half round trips of messages");
  CLI::App* stream_role = app.add_subcommand("stream", "messages one after the other; size: of a message");
  for (CLI::App* role : {pingpong_role, stream_role}) {
    add_client_options(*role, options);
    role->add_option("--peer", options.peer, "address or name of the server")->required();
    role->add_flag("--blocking", options.blocking, "sleep in the kernel instead of polling, on both sides");
  }
  add_time_limit(*pingpong_role, options);
  stream_role->add_option("--control", options.control, "congestion control (default: the kernel's)");
  stream_role->add_option("--warm-up-bytes", options.warm_bytes, "bytes sent before the measurement")
      ->capture_default_str();
  for (CLI::App* role : {server_role, pingpong_role, stream_role}) {
    role->add_option("--port", options.port)->capture_default_str();
  }
  CLI11_PARSE(app, argc, argv);

  for (std::size_t size : options.sizes) {
    if (size == 0) die(2, "TCP has no messages of 0 bytes");
  }
  pin(options.cpu);
  if (*server_role) {
    server(options);
  } else if (*pingpong_role) {
    if (options.sizes.empty()) options.sizes = {1, 16, 64, 256, 1024, 1400, 4096, 8192};
    pingpong(options);
  } else {
    if (options.sizes.empty()) options.sizes = {kMessageBytes};
    stream(options);
  }
  return 0;
}
