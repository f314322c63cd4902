// SPDX-License-Identifier: BSD-3-Clause
#include "mx/comm_calls.h"

using namespace omx::mx;

extern "C" {

mx_return_t mx_isend(mx_endpoint_t endpoint, mx_segment_t* segments_list, uint32_t segments_count,
                     mx_endpoint_addr_t dest_endpoint, uint64_t match_info, void* context,
                     mx_request_t* request) {
  return send<MxApi>(__func__, endpoint, segments_list, segments_count, dest_endpoint, match_info, context,
                     request, false);
}

mx_return_t mx_issend(mx_endpoint_t endpoint, mx_segment_t* segments_list, uint32_t segments_count,
                      mx_endpoint_addr_t dest_endpoint, uint64_t match_info, void* context,
                      mx_request_t* request) {
  return send<MxApi>(__func__, endpoint, segments_list, segments_count, dest_endpoint, match_info, context,
                     request, true);
}

mx_return_t mx_irecv(mx_endpoint_t endpoint, mx_segment_t* segments_list, uint32_t segments_count,
                     uint64_t match_info, uint64_t match_mask, void* context, mx_request_t* request) {
  return receive<MxApi>(__func__, endpoint, segments_list, segments_count, match_info, match_mask, context,
                        request);
}

// One-sided operations were never part of Open-MX (docs/spec/mx-api.md 4.6). A clear error replaces the
// abort of Open-MX 1.x.
mx_return_t mx_iput(mx_endpoint_t endpoint, void*, uint32_t, mx_endpoint_addr_t, uint64_t, void*,
                    mx_request_t*) {
  return endpoint_call<mx_return_t>(__func__, endpoint, [](Call& call) {
    return call.fail(OMX_FAILURE, "one-sided operations are not supported, use mx_isend and mx_irecv");
  });
}

mx_return_t mx_iget(mx_endpoint_t endpoint, void*, uint32_t, mx_endpoint_addr_t, uint64_t, void*,
                    mx_request_t*) {
  return endpoint_call<mx_return_t>(__func__, endpoint, [](Call& call) {
    return call.fail(OMX_FAILURE, "one-sided operations are not supported, use mx_isend and mx_irecv");
  });
}

}  // extern "C"
