// SPDX-License-Identifier: BSD-3-Clause
#include "mx/complete_calls.h"

#include "protocol/state/request.h"

namespace omx::mx {

int request_context(Call& call, const Request* request, void** context) {
  if (!request) return call.fail(OMX_BAD_REQUEST, "no request");
  if (!context) return call.fail_null("context");
  // The call names no endpoint, so no lock can be taken. The field never changes after posting.
  *context = request->context;
  return OMX_SUCCESS;
}

}  // namespace omx::mx
