// SPDX-License-Identifier: BSD-3-Clause
// omx_send_floor: what it costs a sender to hand data to the kernel, by every way there is, without any
// protocol. It prints the rate, and the processor's time for each MiB: the sender's thread, and all of this
// host, which includes the driver's interrupts.
#include "bench/floors/send_ways.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

namespace {

using namespace omx::bench;

struct SendOptions : Options {
  SendTarget target;
  std::string mac;
  std::vector<std::string> ways;
};

constexpr std::size_t kAsk = 8;  // bytes of a question how much has arrived
constexpr double kMiB = 1 << 20;

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Returns for how long all processors of this host were busy.
double host_seconds() {
  unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0;
  std::FILE* file = std::fopen("/proc/stat", "r");
  if (!file) return 0;
  const int got = std::fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
                              &wait, &irq, &softirq);
  std::fclose(file);
  if (got != 7) return 0;
  return static_cast<double>(user + nice + system + irq + softirq) /
         static_cast<double>(::sysconf(_SC_CLK_TCK));
}

int udp_bound(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  const int buffer = 8 << 20;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_port = htons(port);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&own), sizeof own) < 0) die(1, "bind: {}", std::strerror(errno));
  return fd;
}

// Takes whatever comes, and tells who asks how many bytes that was.
void sink(const SendOptions& options) {
  FloorOptions raw;
  raw.interface = options.target.interface;
  const RawSocket frames(raw, false);
  const int datagrams = udp_bound(options.target.port);
  std::uint64_t bytes = 0;
  pollfd both[] = {{frames.fd(), POLLIN, 0}, {datagrams, POLLIN, 0}};
  fmt::print("ready\n");
  std::fflush(stdout);
  for (;;) {
    ::poll(both, 2, -1);
    for (;;) {
      const ssize_t got = ::recv(frames.fd(), nullptr, 0, MSG_DONTWAIT | MSG_TRUNC);
      if (got < 0) break;
      bytes += static_cast<std::uint64_t>(got);
    }
    for (;;) {
      sockaddr_in from{};
      socklen_t length = sizeof from;
      const ssize_t got = ::recvfrom(datagrams, nullptr, 0, MSG_DONTWAIT | MSG_TRUNC,
                                     reinterpret_cast<sockaddr*>(&from), &length);
      if (got < 0) break;
      bytes += static_cast<std::uint64_t>(got);
      if (got == static_cast<ssize_t>(kAsk))
        ::sendto(datagrams, &bytes, sizeof bytes, 0, reinterpret_cast<sockaddr*>(&from), length);
    }
  }
}

class Question {
 public:
  explicit Question(const SendTarget& target) : fd_(udp_bound(0)) {
    to_.sin_family = AF_INET;
    to_.sin_port = htons(target.port);
    if (::inet_pton(AF_INET, target.address.c_str(), &to_.sin_addr) != 1)
      die(2, "{} is no IPv4 address", target.address);
  }
  ~Question() { ::close(fd_); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  std::uint64_t ask() const {
    constexpr int kTries = 50, kWaitMs = 200;
    for (int i = 0; i < kTries; i++) {
      std::uint64_t answer = 0;
      ::sendto(fd_, &answer, kAsk, 0, reinterpret_cast<const sockaddr*>(&to_), sizeof to_);
      pollfd wait{fd_, POLLIN, 0};
      if (::poll(&wait, 1, kWaitMs) > 0 && ::recv(fd_, &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer)
        return answer;
    }
    die(1, "the sink gives no answer");
  }

 private:
  int fd_;
  sockaddr_in to_{};
};

struct Sample {
  double gbps = 0, arrived = 0, thread_us = 0, host_us = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return percentile(values, 0.5);
}

Sample run(SendWay& way, const SendOptions& options, const Question& question, const std::byte* buffer) {
  const std::uint64_t arrived = question.ask();
  const double host = host_seconds(), thread = thread_seconds();
  const Clock::time_point start = Clock::now();
  std::uint64_t sent = 0;
  std::size_t at = 0;
  while (seconds_between(start, Clock::now()) < options.seconds) {
    const std::size_t taken = way.send(buffer + at, kMessageBytes - at);
    at = (at + taken) % kMessageBytes;
    sent += taken;
  }
  const double seconds = seconds_between(start, Clock::now());
  const double thread_used = thread_seconds() - thread, host_used = host_seconds() - host;
  const double mib = static_cast<double>(std::max<std::uint64_t>(sent, 1)) / kMiB;
  return {static_cast<double>(sent) * 8e-9 / seconds,
          static_cast<double>(question.ask() - arrived) * 8e-9 / seconds, thread_used * 1e6 / mib,
          host_used * 1e6 / mib};
}

void measure(SendOptions& options) {
  const auto mac = omx::mac_parse(options.mac);
  if (!mac) die(2, "--mac {} is not a MAC address", options.mac);
  options.target.mac = *mac;
  const std::unique_ptr<std::byte[]> memory(new std::byte[kMessageBytes + 4096]());
  std::byte* const buffer =
      memory.get() + (4096 - reinterpret_cast<std::uintptr_t>(memory.get()) % 4096) % 4096;
  std::memset(buffer, 1, kMessageBytes);
  const Question question(options.target);
  std::map<std::string, std::vector<Sample>> samples;
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (const std::string& name : options.ways) {
      const auto way = send_way_open(name, options.target);
      samples[name].push_back(run(*way, options, question, buffer));
      if (const std::string remark = way->remark(); !remark.empty() && repeat + 1 == options.repeats)
        fmt::print(stderr, "{}: {}\n", name, remark);
    }
  }
  fmt::print("{:>24} {:>9} {:>9} {:>13} {:>13}\n", "way", "Gb/s", "arrived", "thread us/MiB", "host us/MiB");
  for (const std::string& name : options.ways) {
    const auto of = [&](double Sample::*field) {
      std::vector<double> values;
      for (const Sample& sample : samples[name]) values.push_back(sample.*field);
      return median(values);
    };
    fmt::print("{:>24} {:>9.2f} {:>9.2f} {:>13.1f} {:>13.1f}\n", name, of(&Sample::gbps),
               of(&Sample::arrived), of(&Sample::thread_us), of(&Sample::host_us));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What sending costs by each way there is, between two hosts");
  app.require_subcommand(1);
  SendOptions options;
  options.target.port = 7788;
  options.target.frame = 1400;
  CLI::App* receiver = app.add_subcommand("sink", "take all that comes");
  CLI::App* sender = app.add_subcommand("send", "send, measure and print");
  for (CLI::App* role : {receiver, sender}) {
    role->add_option("--interface", options.target.interface, "name of the Ethernet interface")->required();
    role->add_option("--port", options.target.port, "UDP port of the sink")->capture_default_str();
    role->add_option("--cpu", options.cpu, "the core to run on");
  }
  sender->add_option("--mac", options.mac, "MAC address of the sink")->required();
  sender->add_option("--address", options.target.address, "IPv4 address of the sink")->required();
  sender->add_option("--frame", options.target.frame, "data bytes of a frame or datagram")
      ->check(CLI::Range(64, 65000))
      ->capture_default_str();
  sender->add_option("--ways", options.ways, "which ways, in turn")
      ->check(CLI::IsMember(send_ways()))
      ->delimiter(',');
  sender->add_option("--seconds", options.seconds, "of each run")->capture_default_str();
  sender->add_option("--repeats", options.repeats, "runs of each way")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  pin(options.cpu);
  if (*receiver) {
    sink(options);
  } else {
    if (options.ways.empty()) options.ways = send_ways();
    measure(options);
  }
  return 0;
}
