// SPDX-License-Identifier: BSD-3-Clause
// An endpoint of the native API for omx_check.
#pragma once

#include <open-mx.h>

#include <map>
#include <memory>

#include "base/expected.h"

namespace omx::tools {

class ParityPort {
 public:
  // Opens an endpoint of the first board, with any id.
  static Result<std::unique_ptr<ParityPort>> open();
  ~ParityPort();
  ParityPort(const ParityPort&) = delete;
  ParityPort& operator=(const ParityPort&) = delete;

  omx_endpoint_t get() const { return endpoint_; }
  // Connects to another endpoint of this process. Both endpoints make progress meanwhile.
  Result<void> connect(ParityPort& other);
  omx_endpoint_addr_t address_of(const ParityPort& other) const { return addresses_.at(&other); }

 private:
  explicit ParityPort(omx_endpoint_t endpoint) : endpoint_(endpoint) {}

  omx_endpoint_t endpoint_;
  std::map<const ParityPort*, omx_endpoint_addr_t> addresses_;
};

// Wait for a request of `port` while the other end makes progress, too. Silence for some seconds is a
// failure. For parity_complete() a message that failed is one, too.
Result<omx_status_t> parity_status(ParityPort& port, ParityPort& other, omx_request_t request);
Result<omx_status_t> parity_complete(ParityPort& port, ParityPort& other, omx_request_t request);

}  // namespace omx::tools
