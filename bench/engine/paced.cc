// SPDX-License-Identifier: BSD-3-Clause
// omx_paced: short messages at a given rate, due at random times whatever the receiver does, and how late
// they are received. Without a peer it is the receiver: it sleeps in mx_wait_any between messages, and prints
// what that cost. Both ends must have one clock, so this is for hosts of a lab.
#include <myriexpress.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/mac.h"
#include "base/random.h"
#include "bench/floors/floor_report.h"

namespace {

using namespace omx::bench;

constexpr std::uint32_t kEndpoint = 7, kKey = 0x70616365;
constexpr std::uint64_t kMessage = 1, kEnd = 2;
constexpr std::size_t kPosted = 256;
constexpr std::uint32_t kSilenceMs = 20'000;

struct PacedOptions {
  std::string peer;
  double rate = 10'000, seconds = 1;
  std::uint32_t senders = 1, bytes = 128;
  int cpu = -1;
};

// The beginning of each message. The rest of it is padding.
struct Stamp {
  std::uint64_t due = 0;  // when it was to be sent
};

void check(mx_return_t code, const char* what) {
  if (code != MX_SUCCESS) die(1, "{}: {}", what, mx_strerror(code));
}

mx_endpoint_t endpoint_open(std::uint32_t id) {
  mx_endpoint_t endpoint;
  check(mx_open_endpoint(MX_ANY_NIC, id, kKey, nullptr, 0, &endpoint), "mx_open_endpoint");
  return endpoint;
}

// The resources that the process had used at one moment.
struct Use {
  double cpu_us = 0;
  std::int64_t sleeps = 0;
  std::uint64_t at = 0;
  static Use now() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto us = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
    };
    return {us(usage.ru_utime) + us(usage.ru_stime), usage.ru_nvcsw, omx::clock_now()};
  }
};

class Receiver {
 public:
  explicit Receiver(const PacedOptions& o) : options_(o), buffers_(kPosted + o.senders) {
    for (auto& buffer : buffers_) buffer.resize(std::max<std::size_t>(o.bytes, sizeof(Stamp)));
    endpoint_ = endpoint_open(kEndpoint);
  }
  void run() {
    for (std::size_t i = 0; i < buffers_.size(); i++) post(i, i < kPosted ? kMessage : kEnd);
    line("waiting\n");
    std::uint32_t ended = 0;
    while (ended < options_.senders) {
      mx_status_t status;
      std::uint32_t done = 0;
      check(mx_wait_any(endpoint_, kSilenceMs, 0, 0, &status, &done), "mx_wait_any");
      if (!done || status.code != MX_STATUS_SUCCESS)
        die(1, "the sender: {}", done ? mx_strstatus(status.code) : "silent for 20 s");
      if (status.match_info == kEnd)
        ended++;
      else
        took(reinterpret_cast<std::size_t>(status.context));
    }
    report();
    mx_close_endpoint(endpoint_);
  }

 private:
  void post(std::size_t index, std::uint64_t match) {
    mx_segment_t segment{buffers_[index].data(), static_cast<std::uint32_t>(buffers_[index].size())};
    mx_request_t request;
    check(
        mx_irecv(endpoint_, &segment, 1, match, MX_MATCH_MASK_NONE, reinterpret_cast<void*>(index), &request),
        "mx_irecv");
  }
  void took(std::size_t index) {
    Stamp stamp;
    std::memcpy(&stamp, buffers_[index].data(), sizeof stamp);
    if (latencies_.empty()) first_ = Use::now();
    latencies_.push_back(static_cast<double>(omx::clock_now() - stamp.due) / 1e3);
    post(index, kMessage);
  }
  void report() {
    if (latencies_.size() < 2) die(1, "no messages came: give a higher --rate or more --seconds");
    const Use last = Use::now();
    const auto messages = static_cast<double>(latencies_.size());
    std::sort(latencies_.begin(), latencies_.end());
    line(
        "{{\"messages\": {}, \"rate\": {:.0f}, \"p50_us\": {:.2f}, \"p99_us\": {:.2f}, \"cpu_us\": {:.3f}, "
        "\"wakeups\": {:.4f}}}\n",
        latencies_.size(), messages * 1e9 / static_cast<double>(last.at - first_.at),
        latencies_[latencies_.size() / 2], latencies_[latencies_.size() * 99 / 100],
        (last.cpu_us - first_.cpu_us) / messages,
        static_cast<double>(last.sleeps - first_.sleeps) / messages);
  }
  template <class... T>
  static void line(fmt::format_string<T...> text, T&&... values) {
    fmt::print(text, std::forward<T>(values)...);
    std::fflush(stdout);
  }

  const PacedOptions& options_;
  std::vector<std::vector<char>> buffers_;
  mx_endpoint_t endpoint_{};
  std::vector<double> latencies_;
  Use first_;
};

// One thread that sends for all senders, each of which has an endpoint.
class Senders {
 public:
  explicit Senders(const PacedOptions& o)
      : options_(o), random_(1), out_(std::max<std::size_t>(o.bytes, sizeof(Stamp))) {
    std::uint64_t nic = 0;
    check(mx_hostname_to_nic_id(const_cast<char*>(o.peer.c_str()), &nic), o.peer.c_str());
    for (std::uint32_t i = 0; i < o.senders; i++) {
      Sender s;
      s.endpoint = endpoint_open(MX_ANY_ENDPOINT);
      check(mx_connect(s.endpoint, nic, kEndpoint, kKey, kSilenceMs, &s.peer), "mx_connect");
      senders_.push_back(s);
    }
  }
  void run() {
    const std::uint64_t begin = omx::clock_now(),
                        end = begin + static_cast<std::uint64_t>(options_.seconds * 1e9);
    for (Sender& s : senders_) s.due = begin + gap();
    for (;;) {
      Sender& next = *std::min_element(senders_.begin(), senders_.end(),
                                       [](const Sender& a, const Sender& b) { return a.due < b.due; });
      if (next.due >= end) break;
      while (omx::clock_now() < next.due) progress();
      send(next);
      next.due += gap();
    }
    for (Sender& s : senders_) finish(s);
  }

 private:
  struct Sender {
    mx_endpoint_t endpoint{};
    mx_endpoint_addr_t peer{};
    std::uint64_t due = 0;
  };

  std::uint64_t gap() {
    const double even = static_cast<double>(1 + random_.below(1'000'000)) / 1e6;
    return static_cast<std::uint64_t>(-std::log(even) * 1e9 / options_.rate * options_.senders);
  }
  mx_request_t begin(Sender& s, std::uint64_t match) {
    mx_segment_t segment{out_.data(), static_cast<std::uint32_t>(out_.size())};
    mx_request_t request;
    check(mx_isend(s.endpoint, &segment, 1, s.peer, match, nullptr, &request), "mx_isend");
    return request;
  }
  void send(Sender& s) {
    const Stamp stamp{s.due};
    std::memcpy(out_.data(), &stamp, sizeof stamp);
    await(s, begin(s, kMessage));
  }
  void await(Sender& s, mx_request_t request) {
    mx_status_t status;
    std::uint32_t done = 0;
    const std::uint64_t limit = omx::clock_now() + std::uint64_t{kSilenceMs} * 1'000'000;
    while (!done) {
      check(mx_test(s.endpoint, &request, &status, &done), "mx_test");
      if (!done && omx::clock_now() > limit) die(1, "the receiver is silent for 20 s");
    }
    if (status.code != MX_STATUS_SUCCESS) die(1, "a send: {}", mx_strstatus(status.code));
  }
  void finish(Sender& s) {
    await(s, begin(s, kEnd));
    mx_close_endpoint(s.endpoint);
  }
  // Lets the endpoints take acknowledgements, in turn.
  void progress() {
    turn_ = (turn_ + 1) % senders_.size();
    mx_request_t request;
    std::uint32_t found = 0;
    check(mx_ipeek(senders_[turn_].endpoint, &request, &found), "mx_ipeek");
  }

  const PacedOptions& options_;
  omx::Random random_;
  std::vector<char> out_;
  std::vector<Sender> senders_;
  std::size_t turn_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  PacedOptions o;
  CLI::App app("Short messages at a given rate, and how late they are received. Without PEER: the receiver.",
               "omx_paced");
  app.add_option("peer", o.peer, "name of the receiver's host");
  app.add_option("--rate", o.rate, "messages a second, of all senders")->check(CLI::Range(1.0, 1e7));
  app.add_option("--seconds", o.seconds)->check(CLI::Range(0.01, 60.0));
  app.add_option("--senders", o.senders, "endpoints that send; the receiver needs the same number")
      ->check(CLI::Range(1, 64));
  app.add_option("--bytes", o.bytes, "of a message; on both sides")->check(CLI::Range(8, 32768));
  app.add_option("--cpu", o.cpu, "core to run on (default: not bound)")->check(CLI::Range(0, 1023));
  CLI11_PARSE(app, argc, argv);
  pin(o.cpu);
  check(mx_init(), "mx_init");
  if (o.peer.empty())
    Receiver(o).run();
  else
    Senders(o).run();
  mx_finalize();
  return 0;
}
