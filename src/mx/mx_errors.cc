// SPDX-License-Identifier: BSD-3-Clause
#include "mx/call.h"
#include "mx/error_handler.h"
#include "mx/handles.h"

using namespace omx::mx;

extern "C" {

const mx_error_handler_t MX_ERRORS_ARE_FATAL = errors_are_fatal_mx;
const mx_error_handler_t MX_ERRORS_RETURN = errors_return_mx;
const omx_error_handler_t OMX_ERRORS_ARE_FATAL = errors_are_fatal_native;
const omx_error_handler_t OMX_ERRORS_RETURN = errors_return_native;

mx_error_handler_t mx_set_error_handler(mx_error_handler_t handler) {
  return as_mx(error_handler_swap(nullptr, {handler, nullptr}));
}

omx_error_handler_t omx_set_error_handler(omx_endpoint_t ep, omx_error_handler_t handler) {
  Handle* handle = nullptr;
  if (ep) {
    handle = handle_find(ep);
    if (!handle || !handle->endpoint) {
      Call(__func__, nullptr, nullptr).fail(OMX_BAD_ENDPOINT, "not an open endpoint");
      return nullptr;
    }
  }
  return as_native(error_handler_swap(handle, {nullptr, handler}));
}

}  // extern "C"
