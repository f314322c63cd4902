// SPDX-License-Identifier: BSD-3-Clause
#include "tools/parity/parity_port.h"

#include <fmt/format.h>

#include <chrono>

namespace omx::tools {

namespace {

constexpr std::uint32_t kKey = 0x12345678;
constexpr std::chrono::seconds kPatience{20};

tl::unexpected<Failure> problem(const char* what, omx_return_t code) {
  return fail(code, fmt::format("{}: {}", what, omx_strerror(code)));
}

}  // namespace

Result<std::unique_ptr<ParityPort>> ParityPort::open() {
  omx_set_error_handler(nullptr, OMX_ERRORS_RETURN);
  const omx_return_t ready = omx_init();
  if (ready != OMX_SUCCESS && ready != OMX_ALREADY_INITIALIZED)
    return problem("cannot initialise the library", ready);
  omx_endpoint_t endpoint = nullptr;
  const omx_return_t code = omx_open_endpoint(0, OMX_ANY_ENDPOINT, kKey, nullptr, 0, &endpoint);
  if (code != OMX_SUCCESS) return problem("cannot open an endpoint", code);
  return std::unique_ptr<ParityPort>(new ParityPort(endpoint));
}

ParityPort::~ParityPort() {
  omx_close_endpoint(endpoint_);
}

Result<void> ParityPort::connect(ParityPort& other) {
  if (addresses_.contains(&other)) return {};
  omx_endpoint_addr_t address{};
  std::uint64_t nic = 0;
  std::uint32_t id = 0;
  omx_get_endpoint_addr(other.endpoint_, &address);
  omx_decompose_endpoint_addr(address, &nic, &id);
  omx_request_t request{};
  const omx_return_t code = omx_iconnect(endpoint_, nic, id, kKey, 0, nullptr, &request);
  if (code != OMX_SUCCESS) return problem("cannot connect", code);
  const auto status = parity_complete(*this, other, request);
  if (!status) return tl::unexpected(status.error());
  addresses_[&other] = status->addr;
  return {};
}

Result<omx_status_t> parity_status(ParityPort& port, ParityPort& other, omx_request_t request) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  omx_status_t status{};
  std::uint32_t done = 0;
  while (!done) {
    const omx_return_t code = omx_test(port.get(), &request, &status, &done);
    if (code != OMX_SUCCESS && !done) return problem("waiting failed", code);
    if (!done) omx_progress(other.get());
    if (!done && std::chrono::steady_clock::now() > end)
      return fail(OMX_TIMEOUT, fmt::format("nothing happened for {} s", kPatience.count()));
  }
  return status;
}

Result<omx_status_t> parity_complete(ParityPort& port, ParityPort& other, omx_request_t request) {
  const auto status = parity_status(port, other, request);
  if (status && status->code != OMX_SUCCESS) return problem("a message failed", status->code);
  return status;
}

}  // namespace omx::tools
