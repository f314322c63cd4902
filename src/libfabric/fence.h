// SPDX-License-Identifier: BSD-3-Clause
// The fence between this provider and libfabric: no exception passes it.
#pragma once

namespace omx::fabric {

// Returns the negative error code for the exception that is being handled. It must be called in a handler.
int failure_code() noexcept;

// Runs `body` for a call of libfabric. Returns what `body` returns, or the code for its exception.
template <class Body>
auto fenced(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return failure_code();
  }
}

}  // namespace omx::fabric
