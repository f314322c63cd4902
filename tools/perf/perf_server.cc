// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_server.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "tools/command.h"
#include "tools/perf/perf_exchange.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kReopenPause{20};

class Server {
 public:
  Server(MxPort& port, PerfExchange& exchange, std::uint32_t timeout_ms)
      : port_(port), exchange_(exchange), timeout_ms_(timeout_ms) {}

  // Waits for a client and serves it until it leaves. Sets `client` to its name as soon as it is known.
  Result<void> serve(std::string& client) {
    port_.set_waiting(true, 0);
    port_.forget_peer();
    std::byte buffer[kDialogueBytes];
    const auto request =
        port_.receive(buffer, encoded_bytes<PerfHello>(), match_of(PerfKind::hello, 0), kKindMask);
    if (!request) return tl::unexpected(request.error());
    const auto status = port_.complete(*request);
    if (!status) return tl::unexpected(status.error());
    const auto hello = decode<PerfHello>(buffer);
    std::uint64_t nic = 0;
    mx_decompose_endpoint_addr(status->source, &nic, nullptr);
    client = "client " + nic_text(nic);
    client_ = status->source;
    number_ = static_cast<std::uint32_t>(hello.client);

    port_.set_waiting(true, timeout_ms_);
    exchange_.meet(port_, client_, number_);
    if (hello.version != kPerfVersion) {
      if (auto r = answer({static_cast<std::uint64_t>(PerfVerdict::version_differs)}); !r) return r;
      return fail(MX_FAILURE, "it is another version of omx perf");
    }
    if (auto r = answer({}); !r) return r;
    for (;;) {
      const auto going_on = step();
      if (!going_on) return tl::unexpected(going_on.error());
      if (!*going_on) return {};
    }
  }

 private:
  // Serves one step. Returns false when the client has left.
  Result<bool> step() {
    port_.set_waiting(true, timeout_ms_);
    std::byte buffer[kDialogueBytes];
    const auto request =
        port_.receive(buffer, encoded_bytes<PerfStep>(), match_of(PerfKind::control, number_));
    if (!request) return tl::unexpected(request.error());
    if (auto status = port_.complete(*request); !status) return tl::unexpected(status.error());
    const auto wanted = decode<PerfStep>(buffer);
    if (wanted.bye) return false;
    const auto ready = exchange_.prepare(wanted);
    if (!ready) return tl::unexpected(ready.error());
    const PerfVerdict verdict = *ready ? PerfVerdict::fine : PerfVerdict::step_refused;
    if (auto r = answer({static_cast<std::uint64_t>(verdict)}); !r) return tl::unexpected(r.error());
    if (!*ready) return true;

    port_.set_waiting(wanted.blocking != 0, timeout_ms_);
    if (auto r = exchange_.run(nullptr); !r) return tl::unexpected(r.error());
    PerfAnswer result;
    if (const auto& wrong = exchange_.mismatch())
      result = {static_cast<std::uint64_t>(PerfVerdict::data_wrong), wrong->message, wrong->offset};
    if (auto r = answer(result); !r) return tl::unexpected(r.error());
    return true;
  }

  Result<void> answer(const PerfAnswer& what) {
    std::byte buffer[kDialogueBytes];
    const std::size_t size = encode(what, buffer);
    const auto request = port_.send(client_, buffer, size, match_of(PerfKind::answer, number_), false);
    if (!request) return tl::unexpected(request.error());
    if (auto status = port_.complete(*request); !status) return tl::unexpected(status.error());
    return {};
  }

  MxPort& port_;
  PerfExchange& exchange_;
  const std::uint32_t timeout_ms_;
  mx_endpoint_addr_t client_{};
  std::uint32_t number_ = 0;
};

}  // namespace

int perf_serve(const PerfOptions& options) {
  const std::uint32_t id = options.endpoint < 0 ? 0 : static_cast<std::uint32_t>(options.endpoint);
  for (bool first = true;; first = false) {
    // Declared before the port: the port must be closed first.
    PerfExchange exchange(false);
    auto port = MxPort::open(options.board, id);
    // A process that asked for any endpoint may have ours. If it is our next client, it gives the endpoint
    // back.
    const auto patience = Clock::now() + std::chrono::seconds(options.timeout_s);
    while (!first && !port && port.error().mx_code == MX_BUSY && Clock::now() < patience) {
      std::this_thread::sleep_for(kReopenPause);
      port = MxPort::open(options.board, id);
    }
    if (!port && port.error().mx_code == MX_BUSY) {
      return failed("perf",
                    "{}; a second server needs another endpoint (--endpoint N), which its clients name with "
                    "--peer-endpoint N",
                    port.error().message);
    }
    if (!port) return port.error().message.empty() ? kFailed : failed("perf", "{}", port.error().message);
    if (first) fmt::print("{}: waiting for clients\n", (*port)->describe());
    for (;;) {
      std::fflush(stdout);
      std::string client = "a client";
      Server server(**port, exchange, options.timeout_s * 1000);
      const auto served = server.serve(client);
      if (served) {
        fmt::print("served {}\n", client);
      } else {
        failed("perf", "{}: {}", client, served.error().message);
      }
      if (options.once) return served ? kOk : kFailed;
      // Closing the endpoint discards what a failed client has left behind.
      if (!served) break;
    }
  }
}

}  // namespace omx::tools
