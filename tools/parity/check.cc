// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/check.h"

#include <algorithm>
#include <cstring>

#include "tools/parity/parity.h"
#include "tools/parity/parity_port.h"

namespace omx::tools {

namespace {

constexpr const char* kName = "omx_check";
constexpr std::uint64_t kMatch = 0x4242;
// Lengths of each class of messages: tiny, small, medium, large.
constexpr std::uint32_t kLengths[] = {0, 13, 95, 13274, 1048577};

using Verdict = Result<void>;

std::vector<std::byte> pattern(std::size_t length, unsigned seed) {
  std::vector<std::byte> data(length);
  for (std::size_t i = 0; i < length; i++) data[i] = static_cast<std::byte>(i * 31 + i / 251 + seed);
  return data;
}

// Sends messages of all lengths, several at once, from one endpoint to the other.
Verdict loopback(ParityPort& from, ParityPort& to) {
  constexpr unsigned kAtOnce = 4;
  for (const std::uint32_t length : kLengths) {
    std::vector<std::vector<std::byte>> sent, received;
    std::vector<omx_request_t> requests;
    for (unsigned i = 0; i < kAtOnce; i++) {
      received.emplace_back(length + 8, std::byte{0x77});  // the bytes behind the message must not change
      sent.push_back(pattern(length, i));
    }
    for (unsigned i = 0; i < kAtOnce; i++) {
      omx_irecv(to.get(), received[i].data(), length, kMatch + i, ~0ULL, nullptr, &requests.emplace_back());
      omx_isend(from.get(), sent[i].data(), length, from.address_of(to), kMatch + i, nullptr,
                &requests.emplace_back());
    }
    for (unsigned i = 0; i < requests.size(); i++) {
      if (auto done = parity_complete(i % 2 ? from : to, i % 2 ? to : from, requests[i]); !done)
        return tl::unexpected(done.error());
    }
    for (unsigned i = 0; i < kAtOnce; i++) {
      const bool guard = std::all_of(received[i].begin() + length, received[i].end(),
                                     [](std::byte b) { return b == std::byte{0x77}; });
      if (!guard || (length && std::memcmp(sent[i].data(), received[i].data(), length) != 0))
        return fail(1, fmt::format("a message of {} bytes arrived damaged", length));
    }
  }
  return {};
}

Verdict unexpected(ParityPort& port, ParityPort&) {
  omx_request_t request{};
  omx_status_t status{};
  std::uint32_t found = 0;
  char data = 'x';
  omx_isend(port.get(), &data, 1, port.address_of(port), 1, nullptr, &request);
  omx_forget(port.get(), &request);  // the request completes with the receive
  omx_iprobe(port.get(), 2, ~0ULL, &status, &found);
  if (found) return fail(1, "a probe for other match information finds a message");
  omx_iprobe(port.get(), 0, ~1ULL, &status, &found);
  if (!found) return fail(1, "a probe with a mask finds no message");
  char got = 0;
  omx_irecv(port.get(), &got, 1, 1, ~0ULL, nullptr, &request);
  if (auto received = parity_complete(port, port, request); !received)
    return tl::unexpected(received.error());
  omx_iprobe(port.get(), 0, 0, &status, &found);
  if (found || got != 'x') return fail(1, "a message that came before its receive was not received well");
  return {};
}

Verdict truncated(ParityPort& from, ParityPort& to) {
  for (const std::uint32_t length : {10U, 120U, 20000U, 1048576U}) {
    const std::vector<std::byte> sent = pattern(length, 9);
    std::vector<std::byte> received(length, std::byte{0x77});
    omx_request_t in{}, out{};
    omx_irecv(to.get(), received.data(), length / 2, kMatch, ~0ULL, nullptr, &in);
    omx_isend(from.get(), const_cast<std::byte*>(sent.data()), length, from.address_of(to), kMatch, nullptr,
              &out);
    const auto got = parity_status(to, from, in);
    if (!got) return tl::unexpected(got.error());
    if (const auto done = parity_status(from, to, out); !done) return tl::unexpected(done.error());
    if (got->code != OMX_MESSAGE_TRUNCATED || got->xfer_length != length / 2 || got->msg_length != length)
      return fail(1, fmt::format("a receive for half of {} bytes does not end as truncated", length));
    if (std::memcmp(sent.data(), received.data(), length / 2) != 0 || received[length / 2] != std::byte{0x77})
      return fail(1, fmt::format("half of {} bytes arrived damaged", length));
  }
  return {};
}

Verdict cancel(ParityPort& port, ParityPort&) {
  omx_request_t request{};
  std::uint32_t done = 0;
  char data = 0;
  omx_irecv(port.get(), &data, 1, kMatch, ~0ULL, nullptr, &request);
  omx_cancel(port.get(), &request, &done);
  if (!done) return fail(1, "a receive could not be cancelled");
  omx_irecv(port.get(), &data, 1, kMatch, ~0ULL, nullptr, &request);
  omx_cancel_notest(port.get(), &request, &done);
  const auto status = parity_status(port, port, request);
  if (!status) return tl::unexpected(status.error());
  if (status->code != OMX_CANCELLED) return fail(1, "a cancelled receive does not end as cancelled");
  return {};
}

Verdict addr_context(ParityPort& from, ParityPort& to) {
  const omx_endpoint_addr_t address = from.address_of(to);
  void* context = &from;
  int mark = 0;
  omx_get_endpoint_addr_context(address, &context);
  if (context) return fail(1, "a new address has a context");
  omx_set_endpoint_addr_context(address, &mark);
  omx_get_endpoint_addr_context(address, &context);
  if (context != &mark) return fail(1, "an address does not keep its context");
  return {};
}

Verdict vectorial(ParityPort& from, ParityPort& to) {
  constexpr std::uint32_t kTotal = 400000;
  constexpr std::uint32_t kCuts[] = {0, 1, 17, 5000, 5001, 99999, 300000, kTotal};
  std::vector<std::byte> sent = pattern(kTotal, 3), received(kTotal);
  std::vector<omx_seg_t> out, in;
  for (std::size_t i = 1; i < std::size(kCuts); i++) {
    out.push_back({sent.data() + kCuts[i - 1], kCuts[i] - kCuts[i - 1]});
    const std::uint32_t begin = kTotal - kCuts[std::size(kCuts) - i],
                        end = kTotal - kCuts[std::size(kCuts) - 1 - i];
    in.push_back({received.data() + begin, end - begin});
  }
  omx_request_t in_request{}, out_request{};
  const auto count = static_cast<std::uint32_t>(out.size());
  omx_irecvv(to.get(), in.data(), count, kMatch, ~0ULL, nullptr, &in_request);
  omx_isendv(from.get(), out.data(), count, from.address_of(to), kMatch, nullptr, &out_request);
  if (auto done = parity_complete(to, from, in_request); !done) return tl::unexpected(done.error());
  if (auto done = parity_complete(from, to, out_request); !done) return tl::unexpected(done.error());
  if (sent != received) return fail(1, "segments arrived damaged");
  return {};
}

struct Test {
  const char* name;
  Verdict (*run)(ParityPort& from, ParityPort& to);
  bool self;  // one endpoint sends and receives
};
constexpr Test kTests[] = {
    {"loopback_self", loopback, true},      {"loopback_shared", loopback, false},
    {"unexpected", unexpected, true},       {"truncated_self", truncated, true},
    {"truncated_shared", truncated, false}, {"cancel", cancel, true},
    {"addr_context", addr_context, false},  {"vect_self", vectorial, true},
    {"vect_shared", vectorial, false},
};

int usage() {
  fmt::print(stderr,
             "omx_check\nMessages from one endpoint of this host to itself and to another one; status 1 if a "
             "test fails. It has no options.\n");
  return kParityFailed;
}

}  // namespace

int parity_check(int argc, char** argv) {
  if (parity_option(kName, argc, argv, "h") != -1 || argc > 1) return usage();
  auto from = ParityPort::open(), to = ParityPort::open();
  if (!from || !to) return parity_failed(kName, "{}", (from ? to : from).error().message);
  unsigned failures = 0;
  for (const Test& test : kTests) {
    ParityPort& other = test.self ? **from : **to;
    Verdict verdict = (*from)->connect(other);
    if (verdict) verdict = test.run(**from, other);
    fmt::print("TEST {} ... {}\n", test.name, verdict ? "ok" : "failed");
    std::fflush(stdout);
    if (verdict) continue;
    failures++;
    message_print(kName, fmt::format("{}: {}", test.name, verdict.error().message));
  }
  return failures ? 1 : 0;
}

}  // namespace omx::tools
