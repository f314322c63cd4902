// SPDX-License-Identifier: BSD-3-Clause
// Endpoints of one process on the two ends of a virtual cable (boards 0 and 1), used through the MX
// interface. Their frames go through the kernel.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mx_extensions.h"
#include "myriexpress.h"
#include "tests/support/background.h"
#include "tests/support/test_network.h"

namespace omx::mx_tests {

using link::Background;
using link::becomes_true;
using Bytes = std::vector<unsigned char>;

inline constexpr std::uint32_t kKey = 0x1234;
inline constexpr std::uint32_t kShortMs = 50;
inline constexpr std::uint32_t kLongMs = 60000;

Bytes pattern(std::size_t size, unsigned seed = 0);

// Environment variables for the life of the object.
class Environment {
 public:
  Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();
  void set(const std::string& name, const std::string& value);

 private:
  std::map<std::string, std::optional<std::string>> previous_;
};

// The arguments that the error handler got.
struct HandledError {
  mx_return_t code;
  std::string text;
};
extern std::vector<HandledError> g_handled;
// Records and returns the code.
mx_return_t recording_handler(char* text, mx_return_t code);

// Runs `body` in a forked process. Returns its exit status, or -1 when a signal ended it.
int in_child(const std::function<int()>& body);

// The cable, and a library that is set up but not initialised. The error handler records.
class CableOnly : public link::CableTest {
 protected:
  void SetUp() override;
  void TearDown() override;
  Environment environment_;
};

// As CableOnly, with an initialised library.
class Initialised : public CableOnly {
 protected:
  void SetUp() override;
  static mx_endpoint_t open(std::uint32_t board, std::uint32_t id = MX_ANY_ENDPOINT,
                            std::vector<mx_param_t> params = {});
};

// As Initialised, with endpoint a_ on board 0 and b_ on board 1.
class Pair : public Initialised {
 protected:
  void SetUp() override;

  // Makes progress at both ends, and at other endpoints that the test names.
  void drive() {
    mx_progress(a_);
    mx_progress(b_);
    for (const mx_endpoint_t other : others_) mx_progress(other);
  }
  template <class Condition>
  bool drive_until(Condition condition) {
    return becomes_true([&] {
      drive();
      return condition();
    });
  }
  // Drives the ends for a moment, to see that something does not happen.
  void drive_for(unsigned ms = 20);

  // Drive both ends until the request is done.
  mx_status_t finish(mx_endpoint_t endpoint, mx_request_t request);
  mx_endpoint_addr_t connect(mx_endpoint_t from, mx_endpoint_t to);
  void finish_both(mx_endpoint_t e1, mx_request_t r1, mx_endpoint_t e2, mx_request_t r2);

  static mx_request_t post(mx_endpoint_t endpoint, Bytes& buffer, std::uint64_t info,
                           std::uint64_t mask = MX_MATCH_MASK_NONE, void* context = nullptr);
  static mx_request_t send(mx_endpoint_t endpoint, mx_endpoint_addr_t to, const Bytes& data,
                           std::uint64_t info, void* context = nullptr);
  static mx_request_t send_sync(mx_endpoint_t endpoint, mx_endpoint_addr_t to, const Bytes& data,
                                std::uint64_t info);
  // Sends a copy of the data without a completion.
  static void send_forgotten(mx_endpoint_t endpoint, mx_endpoint_addr_t to, const Bytes& data,
                             std::uint64_t info);
  static mx_endpoint_addr_t address(mx_endpoint_t endpoint);
  static std::uint64_t nic(mx_endpoint_t endpoint);
  static std::uint32_t id(mx_endpoint_t endpoint);
  static bool same(mx_endpoint_addr_t x, mx_endpoint_addr_t y);
  // Returns what a wildcard probe finds.
  bool unexpected_waits(mx_endpoint_t endpoint);

  mx_endpoint_t a_ = nullptr;
  mx_endpoint_t b_ = nullptr;
  std::vector<mx_endpoint_t> others_;
  mx_endpoint_addr_t to_b_{};  // a_'s address of b_
};

}  // namespace omx::mx_tests
