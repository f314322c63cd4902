// SPDX-License-Identifier: BSD-3-Clause
// The native interface: communication and completion (docs/spec/mx-api.md 9). The mx_*.cc file of the family
// says what each call does.
#include "mx/comm_calls.h"
#include "mx/complete_calls.h"

using namespace omx::mx;

namespace {

// A contiguous buffer is a list of one segment, whose length has 32 bits. A longer buffer is refused.
struct OneSegment {
  OneSegment(void* buffer, size_t length)
      : segment{buffer, static_cast<std::uint32_t>(length)}, fits(segment.len == length) {}
  omx_seg_t segment;
  bool fits;
};

omx_return_t too_long(const char* function, omx_endpoint_t ep, size_t length) {
  return endpoint_call<omx_return_t>(function, ep, [&](Call& call) {
    return call.fail(OMX_BAD_SEG_LIST, "{} bytes given, a message has at most 4294967295", length);
  });
}

}  // namespace

extern "C" {

omx_return_t omx_isend(omx_endpoint_t ep, void* buffer, size_t length, omx_endpoint_addr_t dest,
                       uint64_t match_info, void* context, omx_request_t* request) {
  const OneSegment one(buffer, length);
  if (!one.fits) return too_long(__func__, ep, length);
  return send<NativeApi>(__func__, ep, &one.segment, 1, dest, match_info, context, request, false);
}

omx_return_t omx_issend(omx_endpoint_t ep, void* buffer, size_t length, omx_endpoint_addr_t dest,
                        uint64_t match_info, void* context, omx_request_t* request) {
  const OneSegment one(buffer, length);
  if (!one.fits) return too_long(__func__, ep, length);
  return send<NativeApi>(__func__, ep, &one.segment, 1, dest, match_info, context, request, true);
}

omx_return_t omx_irecv(omx_endpoint_t ep, void* buffer, size_t length, uint64_t match_info,
                       uint64_t match_mask, void* context, omx_request_t* request) {
  const OneSegment one(buffer, length);
  if (!one.fits) return too_long(__func__, ep, length);
  return receive<NativeApi>(__func__, ep, &one.segment, 1, match_info, match_mask, context, request);
}

omx_return_t omx_isendv(omx_endpoint_t ep, omx_seg_t* segs, uint32_t nseg, omx_endpoint_addr_t dest,
                        uint64_t match_info, void* context, omx_request_t* request) {
  return send<NativeApi>(__func__, ep, segs, nseg, dest, match_info, context, request, false);
}

omx_return_t omx_issendv(omx_endpoint_t ep, omx_seg_t* segs, uint32_t nseg, omx_endpoint_addr_t dest,
                         uint64_t match_info, void* context, omx_request_t* request) {
  return send<NativeApi>(__func__, ep, segs, nseg, dest, match_info, context, request, true);
}

omx_return_t omx_irecvv(omx_endpoint_t ep, omx_seg_t* segs, uint32_t nseg, uint64_t match_info,
                        uint64_t match_mask, void* context, omx_request_t* request) {
  return receive<NativeApi>(__func__, ep, segs, nseg, match_info, match_mask, context, request);
}

omx_return_t omx_cancel(omx_endpoint_t ep, omx_request_t* request, uint32_t* result) {
  return cancel<NativeApi>(__func__, ep, request, result, false);
}

omx_return_t omx_cancel_notest(omx_endpoint_t ep, omx_request_t* request, uint32_t* result) {
  return cancel<NativeApi>(__func__, ep, request, result, true);
}

omx_return_t omx_forget(omx_endpoint_t ep, omx_request_t* request) {
  return forget<NativeApi>(__func__, ep, request);
}

omx_return_t omx_test(omx_endpoint_t ep, omx_request_t* request, omx_status_t* status, uint32_t* result) {
  return test<NativeApi>(__func__, ep, request, status, result);
}

omx_return_t omx_wait(omx_endpoint_t ep, omx_request_t* request, omx_status_t* status, uint32_t* result,
                      uint32_t timeout) {
  return wait<NativeApi>(__func__, ep, request, timeout, status, result);
}

omx_return_t omx_test_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                          uint32_t* result) {
  return test_any<NativeApi>(__func__, ep, match_info, match_mask, status, result);
}

omx_return_t omx_wait_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                          uint32_t* result, uint32_t timeout) {
  return wait_any<NativeApi>(__func__, ep, timeout, match_info, match_mask, status, result);
}

omx_return_t omx_ipeek(omx_endpoint_t ep, omx_request_t* request, uint32_t* result) {
  return ipeek<NativeApi>(__func__, ep, request, result);
}

omx_return_t omx_peek(omx_endpoint_t ep, omx_request_t* request, uint32_t* result, uint32_t timeout) {
  return wait_peek<NativeApi>(__func__, ep, timeout, request, result);
}

omx_return_t omx_iprobe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                        uint32_t* result) {
  return iprobe<NativeApi>(__func__, ep, match_info, match_mask, status, result);
}

omx_return_t omx_probe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                       uint32_t* result, uint32_t timeout) {
  return wait_probe<NativeApi>(__func__, ep, timeout, match_info, match_mask, status, result);
}

omx_return_t omx_ibuffered(omx_endpoint_t ep, omx_request_t* request, uint32_t* result) {
  return ibuffered<NativeApi>(__func__, ep, request, result);
}

omx_return_t omx_context(omx_request_t* request, void** context) {
  return library_call<omx_return_t>(__func__, [&](Call& call, omx::runtime::Process&) {
    return request_context(call, request ? request_in(*request) : nullptr, context);
  });
}

omx_return_t omx_set_request_timeout(omx_endpoint_t ep, omx_request_t request, uint32_t ms) {
  return set_request_timeout<NativeApi>(__func__, ep, request, ms);
}

}  // extern "C"
