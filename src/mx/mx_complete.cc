// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include "protocol/state/request.h"

#include "mx/complete_calls.h"

namespace omx::mx {

namespace {

using Clock = std::chrono::steady_clock;

// Nothing wakes a thread when a send becomes buffered, so it is tested again at least this often.
constexpr std::uint64_t kBufferedSliceMs = 1;
// The match information of a probe that only drives the endpoint. A message that happens to match shortens
// the slice.
constexpr std::uint64_t kNobodysMatch = 0x9d5c0fb1e6a2c37bULL;

int wait_buffered(Call& call, Request* request, std::uint64_t timeout_ms, std::uint32_t* result) {
  const auto start = Clock::now();
  // Another thread may close the endpoint between two tests.
  const runtime::Endpoint::Pin pin(call.endpoint());
  for (;;) {
    const auto buffered = call.endpoint().buffered(request);
    if (!buffered) return OMX_BAD_REQUEST;
    if (*buffered) break;
    std::uint64_t slice = kBufferedSliceMs;
    if (timeout_ms != runtime::kForever) {
      const auto elapsed =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
      if (static_cast<std::uint64_t>(elapsed) >= timeout_ms) return OMX_SUCCESS;
      slice = std::min(slice, timeout_ms - static_cast<std::uint64_t>(elapsed));
    }
    protocol::Arrival arrival;
    if (call.endpoint().wait_probe(kNobodysMatch, ~std::uint64_t{0}, slice, arrival) ==
        runtime::WaitOutcome::woken)
      return OMX_SUCCESS;
  }
  *result = 1;
  return OMX_SUCCESS;
}

}  // namespace

}  // namespace omx::mx

using namespace omx::mx;

extern "C" {

mx_return_t mx_test(mx_endpoint_t endpoint, mx_request_t* request, mx_status_t* status, uint32_t* result) {
  return test<MxApi>(__func__, endpoint, request, status, result);
}

mx_return_t mx_wait(mx_endpoint_t endpoint, mx_request_t* request, uint32_t timeout, mx_status_t* status,
                    uint32_t* result) {
  return wait<MxApi>(__func__, endpoint, request, timeout, status, result);
}

mx_return_t mx_test_any(mx_endpoint_t endpoint, uint64_t match_info, uint64_t match_mask, mx_status_t* status,
                        uint32_t* result) {
  return test_any<MxApi>(__func__, endpoint, match_info, match_mask, status, result);
}

mx_return_t mx_wait_any(mx_endpoint_t endpoint, uint32_t timeout, uint64_t match_info, uint64_t match_mask,
                        mx_status_t* status, uint32_t* result) {
  return wait_any<MxApi>(__func__, endpoint, timeout, match_info, match_mask, status, result);
}

mx_return_t mx_ipeek(mx_endpoint_t endpoint, mx_request_t* request, uint32_t* result) {
  return ipeek<MxApi>(__func__, endpoint, request, result);
}

mx_return_t mx_peek(mx_endpoint_t endpoint, uint32_t timeout, mx_request_t* request, uint32_t* result) {
  return wait_peek<MxApi>(__func__, endpoint, timeout, request, result);
}

mx_return_t mx_iprobe(mx_endpoint_t endpoint, uint64_t match_info, uint64_t match_mask, mx_status_t* status,
                      uint32_t* result) {
  return iprobe<MxApi>(__func__, endpoint, match_info, match_mask, status, result);
}

mx_return_t mx_probe(mx_endpoint_t endpoint, uint32_t timeout, uint64_t match_info, uint64_t match_mask,
                     mx_status_t* status, uint32_t* result) {
  return wait_probe<MxApi>(__func__, endpoint, timeout, match_info, match_mask, status, result);
}

mx_return_t mx_cancel(mx_endpoint_t endpoint, mx_request_t* request, uint32_t* result) {
  return cancel<MxApi>(__func__, endpoint, request, result, false);
}

mx_return_t mx_forget(mx_endpoint_t endpoint, mx_request_t* request) {
  return forget<MxApi>(__func__, endpoint, request);
}

mx_return_t mx_ibuffered(mx_endpoint_t endpoint, mx_request_t* request, uint32_t* result) {
  return ibuffered<MxApi>(__func__, endpoint, request, result);
}

mx_return_t mx_buffered(mx_endpoint_t endpoint, mx_request_t* request, uint32_t timeout, uint32_t* result) {
  return request_call<MxApi>(__func__, endpoint, request, [&](Call& call, Request* r) -> int {
    if (!result) return call.fail_null("result");
    *result = 0;
    return wait_buffered(call, r, MxApi::timeout_ms(timeout), result);
  });
}

mx_return_t mx_context(mx_request_t* request, void** context) {
  return library_call<mx_return_t>(__func__, [&](Call& call, omx::runtime::Process&) {
    return request_context(call, request ? request_in(*request) : nullptr, context);
  });
}

mx_return_t mx_set_request_timeout(mx_endpoint_t endpoint, mx_request_t request, uint32_t milli_seconds) {
  return set_request_timeout<MxApi>(__func__, endpoint, request, milli_seconds);
}

}  // extern "C"
