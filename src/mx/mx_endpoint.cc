// SPDX-License-Identifier: BSD-3-Clause
#include "mx/endpoint_calls.h"

using namespace omx::mx;

extern "C" {

mx_return_t mx_open_endpoint(uint32_t board_number, uint32_t endpoint_id, uint32_t endpoint_key,
                             mx_param_t* params_array, uint32_t params_count, mx_endpoint_t* endpoint) {
  return open<MxApi>(__func__, board_number, endpoint_id, endpoint_key, params_array, params_count, endpoint);
}

mx_return_t mx_close_endpoint(mx_endpoint_t endpoint) {
  return endpoint_call<mx_return_t>(__func__, endpoint,
                                    [](Call& call) { return endpoint_close(call, MxApi::kCloseInHandler); });
}

mx_return_t mx_get_endpoint_addr(mx_endpoint_t endpoint, mx_endpoint_addr_t* endpoint_addr) {
  return own_address<MxApi>(__func__, endpoint, endpoint_addr);
}

mx_return_t mx_wakeup(mx_endpoint_t endpoint) {
  return simple_call<mx_return_t>(__func__, endpoint, &omx::runtime::Endpoint::wakeup);
}

mx_return_t mx_progress(mx_endpoint_t ep) {
  return simple_call<mx_return_t>(__func__, ep, &omx::runtime::Endpoint::progress);
}

mx_return_t mx_disable_progression(mx_endpoint_t ep) {
  return simple_call<mx_return_t>(__func__, ep, &omx::runtime::Endpoint::disable_progression);
}

mx_return_t mx_reenable_progression(mx_endpoint_t ep) {
  return simple_call<mx_return_t>(__func__, ep, &omx::runtime::Endpoint::reenable_progression);
}

mx_return_t mx_register_unexp_handler(mx_endpoint_t ep, mx_unexp_handler_t handler, void* context) {
  return register_unexpected<mx_return_t>(__func__, ep, handler, context);
}

// This call was never part of Open-MX (docs/spec/mx-api.md 4.6). A clear error replaces the abort of Open-MX
// 1.x.
mx_return_t mx_register_unexp_callback(mx_endpoint_t ep, mx_matching_callback_t, void*) {
  return endpoint_call<mx_return_t>(__func__, ep, [](Call& call) {
    return call.fail(OMX_FAILURE, "not supported, use mx_register_unexp_handler");
  });
}

}  // extern "C"
