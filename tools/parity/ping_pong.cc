// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/ping_pong.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>

#include "base/bytes.h"
#include "base/text.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kKey = 0x12345678;
constexpr std::uint64_t kMatch = 0x1234567887654321, kMatchOfConnect = 0xabcddcbaabcddcba;
constexpr std::uint64_t kMatchAll = ~std::uint64_t{0};
constexpr std::uint64_t kLongest = 0xFFFFFFFF;
constexpr std::uint32_t kForEver = 0;
constexpr std::uint32_t kSenderPatience = 30'000, kReceiverPatience = 600'000;  // ms; a sender may pause
constexpr int kPollsPerLook = 4096;  // reading the clock costs as much as polling the endpoint

tl::unexpected<Failure> problem(const char* what, omx_return_t code) {
  return fail(code, fmt::format("{}: {}", what, omx_strerror(code)));
}

struct Freed {
  void operator()(std::byte* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<std::byte, Freed>;

Result<Buffer> buffer_new(const PingPong& test) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = (std::max<std::uint64_t>(test.end, 1) + page - 1) / page * page;
  Buffer buffer(static_cast<std::byte*>(test.align ? std::aligned_alloc(page, size) : std::malloc(size)));
  if (!buffer)
    return fail(OMX_NO_SYSTEM_RESOURCES, fmt::format("no memory for messages of {} bytes", test.end - 1));
  std::fill_n(buffer.get(), size, std::byte{0x5A});  // touches all pages before anything is timed
  return buffer;
}

}  // namespace

std::optional<std::uint64_t> PingPong::next(std::uint64_t length) const {
  const std::uint64_t following = length == 0 ? (increment ? increment : 1) : length * multiplier + increment;
  if (following >= end) return std::nullopt;
  return following;
}

std::string PingPong::wrong() const {
  if (iterations == 0) return "without iterations there is nothing to measure";
  if (end > kLongest + 1) return fmt::format("messages have at most {} bytes", kLongest);
  if (first >= end) return fmt::format("no length from {} is below {}", first, end);
  if (multiplier > kLongest || increment > kLongest) return "multiplier or increment is too large";
  if (multiplier == 0 || (multiplier == 1 && increment == 0))
    return "lengths do not grow by this multiplier and increment";
  return "";
}

PingPongBlock ping_pong_encode(const PingPong& test) {
  PingPongBlock block{};
  store_be32(block.data(), test.iterations);
  store_be32(block.data() + 4, test.warm_up);
  std::size_t at = 8;
  for (const std::uint64_t value : {test.first, test.end, test.multiplier, test.increment}) {
    store_be32(block.data() + at, static_cast<std::uint32_t>(value));
    store_be32(block.data() + at + 4, static_cast<std::uint32_t>(value >> 32));
    at += 8;
  }
  store8(block.data() + 40, test.align);
  store8(block.data() + 41, test.one_way);
  store8(block.data() + 42, test.sync);
  return block;
}

PingPong ping_pong_decode(const PingPongBlock& block) {
  PingPong test;
  test.iterations = load_be32(block.data());
  test.warm_up = load_be32(block.data() + 4);
  std::size_t at = 8;
  for (std::uint64_t* value : {&test.first, &test.end, &test.multiplier, &test.increment}) {
    *value = load_be32(block.data() + at) | std::uint64_t{load_be32(block.data() + at + 4)} << 32;
    at += 8;
  }
  test.align = load8(block.data() + 40) != 0;
  test.one_way = load8(block.data() + 41) != 0;
  test.sync = load8(block.data() + 42) != 0;
  return test;
}

Result<std::unique_ptr<PingPongPort>> PingPongPort::open(std::uint32_t board, std::uint32_t endpoint,
                                                         PingPongWait wait) {
  omx_set_error_handler(nullptr, OMX_ERRORS_RETURN);
  if (const omx_return_t code = omx_init(); code != OMX_SUCCESS)
    return problem("cannot initialise the library", code);
  omx_endpoint_t opened = nullptr;
  const omx_return_t code = omx_open_endpoint(board, endpoint, kKey, nullptr, 0, &opened);
  if (code != OMX_SUCCESS) return problem("cannot open the endpoint", code);
  return std::unique_ptr<PingPongPort>(new PingPongPort(opened, wait));
}

PingPongPort::~PingPongPort() {
  omx_close_endpoint(endpoint_);
  omx_finalize();
}

std::string PingPongPort::hostname() const {
  char text[OMX_HOSTNAMELEN_MAX] = "";
  omx_get_info(endpoint_, OMX_INFO_BOARD_HOSTNAME, nullptr, 0, text, sizeof text);
  return text;
}

std::string PingPongPort::interface() const {
  char text[OMX_HOSTNAMELEN_MAX] = "";
  omx_get_info(endpoint_, OMX_INFO_BOARD_IFACENAME, nullptr, 0, text, sizeof text);
  return text;
}

std::uint32_t PingPongPort::number() const {
  omx_endpoint_addr_t own{};
  std::uint64_t nic = 0;
  std::uint32_t id = 0;
  omx_get_endpoint_addr(endpoint_, &own);
  omx_decompose_endpoint_addr(own, &nic, &id);
  return id;
}

Result<omx_status_t> PingPongPort::complete(omx_request_t request, std::uint32_t patience_ms) {
  omx_status_t status{};
  std::uint32_t done = 0;
  omx_return_t code = OMX_SUCCESS;
  if (wait_ == PingPongWait::sleep) {
    code = omx_wait(endpoint_, &request, &status, &done, patience_ms ? patience_ms : OMX_TIMEOUT_INFINITE);
  } else {
    const auto end = Clock::now() + std::chrono::milliseconds(patience_ms);
    for (int polls = 1; !done && code == OMX_SUCCESS; polls++) {
      code = omx_test(endpoint_, &request, &status, &done);
      if (wait_ == PingPongWait::yield) ::sched_yield();
      if (polls % kPollsPerLook == 0 && patience_ms && Clock::now() > end) break;
    }
  }
  if (code != OMX_SUCCESS && !done) return problem("waiting failed", code);
  if (!done) {
    std::uint32_t cancelled = 0;
    omx_cancel(endpoint_, &request, &cancelled);
    if (!cancelled) omx_forget(endpoint_, &request);
    return fail(OMX_TIMEOUT, fmt::format("the peer was silent for {} s", patience_ms / 1000));
  }
  if (status.code != OMX_SUCCESS) return problem("a message failed", status.code);
  return status;
}

Result<void> PingPongPort::put(std::byte* data, std::uint64_t length, bool sync) {
  omx_request_t request{};
  const omx_return_t code = sync ? omx_issend(endpoint_, data, length, peer_, kMatch, nullptr, &request)
                                 : omx_isend(endpoint_, data, length, peer_, kMatch, nullptr, &request);
  if (code != OMX_SUCCESS) return problem("cannot send", code);
  if (const auto sent = complete(request, kReceiverPatience); !sent) return tl::unexpected(sent.error());
  return {};
}

Result<omx_status_t> PingPongPort::get(std::byte* data, std::uint64_t length, std::uint64_t match,
                                       std::uint64_t mask, std::uint32_t patience_ms) {
  omx_request_t request{};
  const omx_return_t code = omx_irecv(endpoint_, data, length, match, mask, nullptr, &request);
  if (code != OMX_SUCCESS) return problem("cannot receive", code);
  return complete(request, patience_ms);
}

Result<void> PingPongPort::send(const std::string& host, std::uint32_t endpoint, const PingPong& test,
                                const Options& options) {
  std::uint64_t nic = 0;
  std::string name = host;
  omx_return_t code = omx_hostname_to_nic_id(name.data(), &nic);
  if (code != OMX_SUCCESS) return problem(fmt::format("cannot find \"{}\"", shown(host)).c_str(), code);
  code = omx_connect(endpoint_, nic, endpoint, kKey, kSenderPatience, &peer_);
  if (code != OMX_SUCCESS) return problem(fmt::format("cannot connect to \"{}\"", shown(host)).c_str(), code);
  auto out = buffer_new(test), in = buffer_new(test);
  if (!out || !in) return tl::unexpected((out ? in : out).error());

  PingPongBlock block = ping_pong_encode(test);
  if (const auto told = put(block.data(), block.size(), true); !told) return told;
  // The receiver sends this message when it has connected back and is ready.
  if (const auto ready = get(nullptr, 0, 0, 0, kSenderPatience); !ready) return tl::unexpected(ready.error());
  for (std::optional<std::uint64_t> length = test.first; length; length = test.next(*length)) {
    Clock::time_point begin;
    for (std::uint64_t i = 0; i < std::uint64_t{test.warm_up} + test.iterations; i++) {
      if (i == test.warm_up) begin = Clock::now();
      if (const auto sent = put(out->get(), *length, test.sync); !sent) return sent;
      const auto got = get(in->get(), test.one_way ? 0 : *length, 0, 0, kSenderPatience);
      if (!got) return tl::unexpected(got.error());
    }
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() /
                      test.iterations / (test.one_way ? 1 : 2);
    const double bytes = static_cast<double>(*length);
    fmt::print("length {:9}:\t{:.3f} us\t{:.2f} MB/s\t {:.2f} MiB/s\n", *length, us, bytes / us,
               bytes / us * 1e6 / 1048576);
    std::fflush(stdout);
    if (test.next(*length)) std::this_thread::sleep_for(std::chrono::milliseconds(options.pause_ms));
  }
  return {};
}

Result<void> PingPongPort::receive(bool verbose) {
  PingPongBlock block{};
  const auto told = get(block.data(), block.size(), kMatch, kMatchAll, kForEver);
  if (!told) return tl::unexpected(told.error());
  if (told->xfer_length != block.size())
    return fail(OMX_FAILURE, "the first message was not one of omx_perf");
  const PingPong test = ping_pong_decode(block);
  if (const std::string wrong = test.wrong(); !wrong.empty())
    return fail(OMX_BAD_INFO_VAL, "the sender requests an impossible test: " + wrong);
  auto buffer = buffer_new(test);
  if (!buffer) return tl::unexpected(buffer.error());

  std::uint64_t nic = 0;
  std::uint32_t id = 0;
  omx_request_t request{};
  omx_decompose_endpoint_addr(told->addr, &nic, &id);
  const omx_return_t code = omx_iconnect(endpoint_, nic, id, kKey, kMatchOfConnect, nullptr, &request);
  if (code != OMX_SUCCESS) return problem("cannot connect back", code);
  const auto back = complete(request, kSenderPatience);
  if (!back) return tl::unexpected(back.error());
  peer_ = back->addr;
  if (verbose)
    fmt::print("Test of {} iterations, lengths {} to {}\n", test.iterations, test.first, test.end - 1);
  // Match information 0 says that this message is not part of the ping-pong.
  if (const omx_return_t ready = omx_issend(endpoint_, nullptr, 0, peer_, 0, nullptr, &request);
      ready != OMX_SUCCESS)
    return problem("cannot send", ready);
  if (const auto sent = complete(request, kSenderPatience); !sent) return tl::unexpected(sent.error());
  for (std::optional<std::uint64_t> length = test.first; length; length = test.next(*length)) {
    for (std::uint64_t i = 0; i < std::uint64_t{test.warm_up} + test.iterations; i++) {
      const auto got = get(buffer->get(), *length, 0, 0, kReceiverPatience);
      if (!got) return tl::unexpected(got.error());
      if (const auto sent = put(buffer->get(), test.one_way ? 0 : *length, test.sync); !sent) return sent;
    }
  }
  return {};
}

}  // namespace omx::tools
