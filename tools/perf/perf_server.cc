// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "tools/command.h"
#include "tools/perf/perf_open.h"
#include "tools/perf/perf_serving.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kReopenPause{20};

// Opens the endpoint of a server. A process that asked for any endpoint may have it for a moment: if that
// process is our next client, it gives the endpoint back.
Result<std::unique_ptr<PerfSeat>> seat_open(const PerfOptions& options, std::uint32_t id, bool again) {
  auto port = MxPort::open(options.board, id);
  const auto patience = Clock::now() + std::chrono::seconds(options.timeout_s);
  while (again && !port && port.error().mx_code == MX_BUSY && Clock::now() < patience) {
    std::this_thread::sleep_for(kReopenPause);
    port = MxPort::open(options.board, id);
  }
  if (!port && port.error().mx_code == MX_BUSY) {
    return fail(MX_BUSY,
                fmt::format("{}; a second server needs another endpoint (--endpoint N), which its clients "
                            "name with --peer-endpoint N",
                            port.error().message));
  }
  if (!port) return tl::unexpected(port.error());
  auto seat = std::make_unique<PerfSeat>();
  seat->port = std::move(*port);
  return seat;
}

// Serves clients by one endpoint. Returns the exit status, with --once after one client.
int seat_serve(std::unique_ptr<PerfSeat> seat, const PerfOptions& options, PerfMeter& meter) {
  const std::uint32_t id = seat->port->endpoint_id();
  for (;;) {
    std::string client = "a client";
    const auto served = PerfServing(*seat, meter, options.timeout_s * 1000).serve(client);
    if (served) {
      fmt::print("served {}\n", client);
    } else {
      failed("perf", "{}: {}", client, served.error().message);
    }
    std::fflush(stdout);
    if (options.once) return served ? kOk : kFailed;
    if (served) continue;
    // Closing the endpoint discards what a failed client has left behind.
    seat.reset();
    auto again = seat_open(options, id, true);
    if (!again) return perf_failed(again.error());
    seat = std::move(*again);
  }
}

}  // namespace

int perf_serve(const PerfOptions& options) {
  const std::uint32_t first = options.endpoint < 0 ? 0 : static_cast<std::uint32_t>(options.endpoint);
  // Older than the threads of the library, so that it counts their cycles.
  PerfMeter meter(PerfMeter::Scope::process);
  std::vector<std::unique_ptr<PerfSeat>> seats;
  for (std::uint32_t i = 0; i < options.threads; i++) {
    auto seat = seat_open(options, first + i, false);
    if (!seat) return perf_failed(seat.error());
    seats.push_back(std::move(*seat));
  }
  for (const auto& seat : seats) fmt::print("{}: waiting for clients\n", seat->port->describe());
  std::fflush(stdout);
  if (seats.size() == 1) return seat_serve(std::move(seats.front()), options, meter);

  std::vector<int> statuses(seats.size(), kOk);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seats.size(); i++) {
    threads.emplace_back([&options, &seats, &statuses, i] {
      if (options.cpu >= 0) thread_pin(options.cpu + static_cast<int>(i));
      PerfMeter own(PerfMeter::Scope::thread);
      statuses[i] = seat_serve(std::move(seats[i]), options, own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return *std::max_element(statuses.begin(), statuses.end());
}

}  // namespace omx::tools
