// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/perf.h"

#include "base/number.h"
#include "base/text.h"
#include "tools/parity/parity.h"
#include "tools/parity/ping_pong.h"

namespace omx::tools {

namespace {

constexpr const char* kName = "omx_perf";
constexpr std::uint32_t kReceiverEndpoint = 0;

struct Options {
  std::uint32_t board = 0, remote = 0;
  std::optional<std::uint32_t> endpoint;
  std::string host;
  PingPong test;
  PingPongPort::Options run;
  PingPongWait wait = PingPongWait::poll;
  bool slave = false;
};

int usage() {
  fmt::print(
      stderr,
      "omx_perf [options]\n -b <n>\tboard (0)\n -e <n>\tlocal endpoint (receiver: 0, sender: any)\n"
      " -s\treceiver: start again after each test\n -w\tsleep instead of polling\n -y\tyield while polling\n"
      " -v\tverbose\nsender:\n -d <host>\tname of the receiver\n -r <n>\tits endpoint (0)\n"
      " -a\tpage-aligned buffers\n -S <n>\tfirst length (0)\n -E <n>\tlengths are below (4194305)\n"
      " -M <n>\tmultiplier (2)\n -I <n>\tincrement (0)\n -N <n>\titerations (1000)\n -W <n>\twarm-up (10)\n"
      " -P <n>\tmilliseconds between lengths (100)\n -U\tone way: answers are empty\n"
      " -Y\tsynchronous sends\n -h\tthis text\n");
  return kParityFailed;
}

// Reads a number. Returns false if it is wrong; the message has been printed then.
template <class Number>
bool take(char option, const char* text, std::uint64_t most, Number& value) {
  const auto number = parity_number(kName, option, text, static_cast<long>(most));
  if (number) value = static_cast<Number>(*number);
  return number.has_value();
}

// Returns nullopt for wrong usage, a wrong number, or -h; the message has been printed then.
std::optional<Options> options_read(int argc, char** argv) {
  Options o;
  bool good = true;
  for (int option;
       good && (option = parity_option(kName, argc, argv, "b:e:swyvd:r:aS:E:M:I:N:W:P:UYh")) != -1;) {
    const auto name = static_cast<char>(option);
    std::uint32_t endpoint = 0;
    switch (option) {
      case 'b':
        good = take(name, optarg, 255, o.board);
        break;
      case 'e':
        good = take(name, optarg, 255, endpoint);
        o.endpoint = endpoint;
        break;
      case 'r':
        good = take(name, optarg, 255, o.remote);
        break;
      case 'S':
        good = take(name, optarg, 0xFFFFFFFF, o.test.first);
        break;
      case 'E':
        good = take(name, optarg, 0x100000000, o.test.end);
        break;
      case 'M':
        good = take(name, optarg, 0xFFFFFFFF, o.test.multiplier);
        break;
      case 'I':
        good = take(name, optarg, 0xFFFFFFFF, o.test.increment);
        break;
      case 'N':
        good = take(name, optarg, 0xFFFFFFFF, o.test.iterations);
        break;
      case 'W':
        good = take(name, optarg, 0xFFFFFFFF, o.test.warm_up);
        break;
      case 'P':
        good = take(name, optarg, 3'600'000, o.run.pause_ms);
        break;
      case 'd':
        o.host = optarg;
        break;
      case 's':
        o.slave = true;
        break;
      case 'w':
        o.wait = PingPongWait::sleep;
        break;
      case 'y':
        o.wait = PingPongWait::yield;
        break;
      case 'v':
        o.run.verbose = true;
        break;
      case 'a':
        o.test.align = true;
        break;
      case 'U':
        o.test.one_way = true;
        break;
      case 'Y':
        o.test.sync = true;
        break;
      default:
        usage();
        return std::nullopt;
    }
  }
  if (!good) return std::nullopt;
  return o;
}

int run(PingPongPort& port, const Options& o) {
  if (!o.host.empty()) {
    fmt::print("Starting sender to '{}'...\n", o.host);
    std::fflush(stdout);
    const auto sent = port.send(o.host, o.remote, o.test, o.run);
    return sent ? 0 : parity_failed(kName, "{}", sent.error().message);
  }
  for (;;) {
    fmt::print("Starting receiver...\n");
    std::fflush(stdout);
    const auto received = port.receive(o.run.verbose);
    if (!received) parity_failed(kName, "{}", received.error().message);
    if (!o.slave) return received ? 0 : kParityFailed;
  }
}

}  // namespace

int parity_perf(int argc, char** argv) {
  const auto options = options_read(argc, argv);
  if (!options) return kParityFailed;
  if (const std::string wrong = options->test.wrong(); !wrong.empty())
    return parity_failed(kName, "{}", wrong);
  const bool any = !options->endpoint && !options->host.empty();
  const std::uint32_t endpoint = any ? OMX_ANY_ENDPOINT : options->endpoint.value_or(kReceiverEndpoint);
  auto port = PingPongPort::open(options->board, endpoint, options->wait);
  if (!port) return parity_failed(kName, "{}", port.error().message);
  fmt::print("Successfully open {} for hostname '{}' iface '{}'\n",
             any ? "any endpoint" : fmt::format("endpoint {}", (*port)->number()), (*port)->hostname(),
             (*port)->interface());
  return run(**port, *options);
}

}  // namespace omx::tools
