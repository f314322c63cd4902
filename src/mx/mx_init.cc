// SPDX-License-Identifier: BSD-3-Clause
#include "mx/init_calls.h"

using namespace omx::mx;

extern "C" {

mx_return_t mx__init_api(int api) {
  return init_call<mx_return_t>("mx_init", api);
}
mx_return_t mx_finalize(void) {
  return finalize_call<mx_return_t>(__func__);
}

}  // extern "C"
