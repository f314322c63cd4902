// SPDX-License-Identifier: BSD-3-Clause
#include "mx/init_calls.h"

namespace omx::mx {

namespace {
constexpr int kApiMajor = MX_API >> 8;
}

int library_start(Call& call, int api) {
  if ((api >> 8) != kApiMajor)
    return call.fail(OMX_BAD_LIB_VERSION, "the program wants version {:#x} of the interface, this is {:#x}",
                     api, MX_API);
  const auto started = process_start();
  if (started) return OMX_SUCCESS;
  // Two libraries of one process may both want MX. That is no reason to end the process.
  if (started.error().mx_code == OMX_ALREADY_INITIALIZED) return OMX_ALREADY_INITIALIZED;
  return call.fail_loudly(started.error());
}

}  // namespace omx::mx
