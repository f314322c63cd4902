// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/fence.h"

#include <cassert>
#include <exception>
#include <new>
#include <string>

#include "libfabric/provider.h"

namespace omx::fabric {

int failure_code() noexcept {
  assert(std::current_exception());
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return -FI_ENOMEM;
  } catch (const std::exception& e) {
    warn(FI_LOG_CORE, std::string("internal error: ") + e.what());
    return -FI_EOTHER;
  }
}

}  // namespace omx::fabric
