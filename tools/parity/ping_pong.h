// SPDX-License-Identifier: BSD-3-Clause
// The ping-pong of omx_perf with the messages of Open-MX 1.x (docs/spec/tools-and-tests.md 1.11), by the
// native API. Either end may be of Open-MX 1.x. The sender's first message says which lengths follow. The
// receiver connects back and answers each message.
#pragma once

#include <open-mx.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/expected.h"

namespace omx::tools {

struct PingPong {
  std::uint32_t iterations = 1000, warm_up = 10;
  std::uint64_t first = 0, end = 4 * 1048576 + 1, multiplier = 2, increment = 0;
  bool align = false, one_way = false, sync = false;

  // Returns the length after this one, or nullopt after the last.
  std::optional<std::uint64_t> next(std::uint64_t length) const;
  // Returns what is wrong with these values, or an empty string.
  std::string wrong() const;
};

using PingPongBlock = std::array<std::byte, 44>;
PingPongBlock ping_pong_encode(const PingPong& test);
PingPong ping_pong_decode(const PingPongBlock& block);

enum class PingPongWait { poll, yield, sleep };

// An endpoint whose functions return failures as values.
class PingPongPort {
 public:
  static Result<std::unique_ptr<PingPongPort>> open(std::uint32_t board, std::uint32_t endpoint,
                                                    PingPongWait wait);
  ~PingPongPort();
  PingPongPort(const PingPongPort&) = delete;
  PingPongPort& operator=(const PingPongPort&) = delete;

  std::string hostname() const;
  std::string interface() const;
  std::uint32_t number() const;

  struct Options {
    std::uint32_t pause_ms = 100;
    bool verbose = false;
  };
  // Measures, and prints one line for each length.
  Result<void> send(const std::string& host, std::uint32_t endpoint, const PingPong& test,
                    const Options& options);
  // Waits for a sender and answers its messages until it is done.
  Result<void> receive(bool verbose);

 private:
  explicit PingPongPort(omx_endpoint_t endpoint, PingPongWait wait) : endpoint_(endpoint), wait_(wait) {}
  Result<omx_status_t> complete(omx_request_t request, std::uint32_t patience_ms);
  Result<void> put(std::byte* data, std::uint64_t length, bool sync);
  Result<omx_status_t> get(std::byte* data, std::uint64_t length, std::uint64_t match, std::uint64_t mask,
                           std::uint32_t patience_ms);

  omx_endpoint_t endpoint_;
  PingPongWait wait_;
  omx_endpoint_addr_t peer_{};
};

}  // namespace omx::tools
