// SPDX-License-Identifier: BSD-3-Clause
// What MPI libraries use beside the documented interface (docs/spec/mx-api.md 4.7).
#include "mx/call.h"
#include "mx/map_state.h"

using namespace omx::mx;
using omx::runtime::Process;

extern "C" {

mx_return_t mx_open_board(int i, mx_endpt_handle_t* handle) {
  return library_call<mx_return_t>(__func__, [&](Call& call, Process& p) -> int {
    if (i < 0 || static_cast<std::size_t>(i) >= p.boards().size())
      return call.fail(OMX_BOARD_UNKNOWN, "board {} of {}", i, p.boards().size());
    if (handle) *handle = i;
    return OMX_SUCCESS;
  });
}

mx_return_t mx__get_mapper_state(mx_endpt_handle_t, mx_mapper_state_t* state) {
  return library_call<mx_return_t>(__func__, [&](Call& call, Process&) -> int {
    if (!state) return call.fail_null("state");
    *state = map_state();
    return OMX_SUCCESS;
  });
}

// Does nothing: nothing is registered, so nothing can be stale. Some programs call it from inside malloc
// (docs/spec/mx-clients.md 19).
int mx__regcache_clean(void*, size_t) {
  return 0;
}

}  // extern "C"
