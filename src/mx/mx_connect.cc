// SPDX-License-Identifier: BSD-3-Clause
#include "mx/connect_calls.h"

using namespace omx::mx;

extern "C" {

mx_return_t mx_connect(mx_endpoint_t endpoint, uint64_t nic_id, uint32_t endpoint_id, uint32_t key,
                       uint32_t timeout, mx_endpoint_addr_t* addr) {
  return connect<MxApi>(__func__, endpoint, nic_id, endpoint_id, key, timeout, addr);
}

mx_return_t mx_iconnect(mx_endpoint_t ep, uint64_t nic_id, uint32_t eid, uint32_t key, uint64_t match_info,
                        void* context, mx_request_t* request) {
  return iconnect<MxApi>(__func__, ep, nic_id, eid, key, match_info, context, request);
}

mx_return_t mx_disconnect(mx_endpoint_t ep, mx_endpoint_addr_t addr) {
  return disconnect<MxApi>(__func__, ep, addr);
}

mx_return_t mx_decompose_endpoint_addr(mx_endpoint_addr_t endpoint_addr, uint64_t* nic_id,
                                       uint32_t* endpoint_id) {
  return static_cast<mx_return_t>(address_parts(address_in(endpoint_addr), nic_id, endpoint_id, nullptr));
}

mx_return_t mx_decompose_endpoint_addr2(mx_endpoint_addr_t endpoint_addr, uint64_t* nic_id,
                                        uint32_t* endpoint_id, uint32_t* session_id) {
  return static_cast<mx_return_t>(address_parts(address_in(endpoint_addr), nic_id, endpoint_id, session_id));
}

mx_return_t mx_set_endpoint_addr_context(mx_endpoint_addr_t endpoint_addr, void* context) {
  return library_call<mx_return_t>(__func__, [&](Call& call, omx::runtime::Process&) {
    return address_context_set(call, address_in(endpoint_addr), context);
  });
}

mx_return_t mx_get_endpoint_addr_context(mx_endpoint_addr_t endpoint_addr, void** context) {
  return library_call<mx_return_t>(__func__, [&](Call& call, omx::runtime::Process&) {
    return address_context_get(call, address_in(endpoint_addr), context);
  });
}

}  // extern "C"
