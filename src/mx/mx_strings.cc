// SPDX-License-Identifier: BSD-3-Clause
#include "mx/code_texts.h"
#include "myriexpress.h"
#include "open-mx.h"

extern "C" {

const char* mx_strerror(mx_return_t code) {
  return omx::mx::code_text(code);
}
const char* mx_strstatus(mx_status_code_t code) {
  return omx::mx::status_text(code);
}
const char* omx_strerror(omx_return_t code) {
  return omx::mx::code_text(code);
}

}  // extern "C"
