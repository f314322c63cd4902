// SPDX-License-Identifier: BSD-3-Clause
// omx_overlap: measures how much of a large message is hidden behind computation. Without a peer it is the
// sender and sends what is requested. With a peer it posts a receive, requests the message, computes without
// calling the library, and then waits.
#include <myriexpress.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>

#include "base/mac.h"
#include "bench/floors/floor_report.h"

namespace {

using namespace omx::bench;

constexpr std::uint32_t kEndpoint = 6, kKey = 0x6f766572;
constexpr std::uint64_t kAsk = 1, kData = 2;

struct Ask {
  std::uint32_t length = 0;  // 0: the sender ends
};

void check(mx_return_t code, const char* what) {
  if (code != MX_SUCCESS) die(1, "{}: {}", what, mx_strerror(code));
}

mx_status_t finish(mx_endpoint_t endpoint, mx_request_t request) {
  mx_status_t status;
  std::uint32_t done = 0;
  check(mx_wait(endpoint, &request, 20'000, &status, &done), "mx_wait");
  if (!done || status.code != MX_STATUS_SUCCESS)
    die(1, "the other end: {}", done ? mx_strstatus(status.code) : "silent for 20 s");
  return status;
}

mx_request_t send(mx_endpoint_t endpoint, mx_endpoint_addr_t to, void* data, std::uint32_t length,
                  std::uint64_t match) {
  mx_segment_t segment{data, length};
  mx_request_t request;
  check(mx_isend(endpoint, &segment, 1, to, match, nullptr, &request), "mx_isend");
  return request;
}

mx_request_t receive(mx_endpoint_t endpoint, void* data, std::uint32_t length, std::uint64_t match) {
  mx_segment_t segment{data, length};
  mx_request_t request;
  check(mx_irecv(endpoint, &segment, 1, match, MX_MATCH_MASK_NONE, nullptr, &request), "mx_irecv");
  return request;
}

void serve(mx_endpoint_t endpoint, std::vector<char>& buffer) {
  for (;;) {
    Ask ask;
    const mx_request_t asked = receive(endpoint, &ask, sizeof ask, kAsk);
    mx_status_t status;
    std::uint32_t done = 0;
    mx_request_t request = asked;
    check(mx_wait(endpoint, &request, MX_INFINITE, &status, &done), "mx_wait");
    if (ask.length == 0) return;
    buffer.resize(std::max<std::size_t>(buffer.size(), ask.length), 1);
    finish(endpoint, send(endpoint, status.source, buffer.data(), ask.length, kData));
  }
}

// Computes without calling the library.
void compute(double us) {
  const Clock::time_point end = Clock::now() + std::chrono::nanoseconds(static_cast<long>(us * 1e3));
  volatile double x = 1;
  while (Clock::now() < end)
    for (int i = 0; i < 100; i++) x = x * 1.0000001;
}

// Returns the microseconds from the request to the end of the wait.
double exchange(mx_endpoint_t endpoint, mx_endpoint_addr_t to, std::vector<char>& buffer, double compute_us) {
  const auto length = static_cast<std::uint32_t>(buffer.size());
  Ask ask{length};
  const mx_request_t data = receive(endpoint, buffer.data(), length, kData);
  const Clock::time_point start = Clock::now();
  const mx_request_t asked = send(endpoint, to, &ask, sizeof ask, kAsk);
  if (compute_us > 0) compute(compute_us);
  finish(endpoint, data);
  const double took = seconds_between(start, Clock::now()) * 1e6;
  finish(endpoint, asked);
  return took;
}

std::uint64_t nic_of(std::string name) {
  if (const auto nic = omx::mac_parse(name)) return *nic;
  std::uint64_t nic = 0;
  check(mx_hostname_to_nic_id(name.data(), &nic), "mx_hostname_to_nic_id");
  return nic;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How much of a large message is hidden behind computation");
  std::string peer;
  std::uint32_t length = 4 << 20;
  double compute_us = 5000;
  int cpu = -1, rounds = 100;
  app.add_option("peer", peer, "name or MAC address of the sender; without it, this is the sender");
  app.add_option("--length", length, "bytes of the message")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--compute", compute_us, "microseconds of computation")->capture_default_str();
  app.add_option("--rounds", rounds)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--cpu", cpu, "core of the computing thread (default: not bound)");
  CLI11_PARSE(app, argc, argv);

  check(mx_init(), "mx_init");
  mx_endpoint_t endpoint;
  check(mx_open_endpoint(MX_ANY_NIC, peer.empty() ? kEndpoint : MX_ANY_ENDPOINT, kKey, nullptr, 0, &endpoint),
        "mx_open_endpoint");
  pin(cpu);  // only now, so that the progress thread, which exists already, stays unbound
  std::vector<char> buffer(length, 1);
  if (peer.empty()) {
    serve(endpoint, buffer);
  } else {
    mx_endpoint_addr_t to;
    check(mx_connect(endpoint, nic_of(peer), kEndpoint, kKey, 10'000, &to), "mx_connect");
    std::vector<double> alone, behind;
    for (int i = -5; i < rounds; i++) {
      const double a = exchange(endpoint, to, buffer, 0), b = exchange(endpoint, to, buffer, compute_us);
      if (i < 0) continue;
      alone.push_back(a);
      behind.push_back(b - compute_us);
    }
    for (std::vector<double>* samples : {&alone, &behind}) std::sort(samples->begin(), samples->end());
    const double whole = percentile(alone, 0.5), left = percentile(behind, 0.5);
    fmt::print(
        "{{\"length\": {}, \"compute_us\": {}, \"alone_us\": {:.1f}, \"left_us\": {:.1f}, "
        "\"left_p99_us\": {:.1f}, \"hidden\": {:.3f}}}\n",
        length, compute_us, whole, left, percentile(behind, 0.99), 1 - left / whole);
    Ask end;
    finish(endpoint, send(endpoint, to, &end, sizeof end, kAsk));
  }
  check(mx_close_endpoint(endpoint), "mx_close_endpoint");
  check(mx_finalize(), "mx_finalize");
  return 0;
}
