// SPDX-License-Identifier: BSD-3-Clause
// Start and end, for both interfaces (docs/spec/mx-api.md 4.1).
#pragma once

#include "mx/call.h"
#include "mx/handles.h"
#include "mx/lifecycle.h"

namespace omx::mx {

// Starts the library for a program that was built for version `api` of the interface. Returns the code of the
// call.
int library_start(Call& call, int api);

template <class Return>
Return init_call(const char* function, int api) {
  Call call(function, nullptr, nullptr);
  return guarded<Return>(call, [api](Call& c) { return library_start(c, api); });
}

template <class Return>
Return finalize_call(const char* function) {
  Call call(function, nullptr, nullptr);
  return guarded<Return>(call, [](Call& c) -> int {
    bool in_handler = false;
    handles_for_each([&](runtime::Endpoint& endpoint) { in_handler |= endpoint.in_handler(); });
    if (in_handler) return c.fail(OMX_CLOSE_IN_HANDLER, "called from the handler of an endpoint");
    // The error handler is not called, because programs finalise once more on their way out of an error.
    return process_stop() ? OMX_SUCCESS : OMX_NOT_INITIALIZED;
  });
}

}  // namespace omx::mx
