// SPDX-License-Identifier: BSD-3-Clause
// Texts of codes and statuses, for every value that the headers have (docs/spec/mx-api.md 1, 4.1), and the
// way from one to the other (docs/spec/mx-api.md 7). All functions are thread-safe.
#pragma once

#include "open-mx.h"
#include "protocol/types.h"

namespace omx::mx {

// The code space of both interfaces: MX return codes, and from 90 on what only completions report.
using Code = omx_return_t;

// Return the text of a code or of an MX status. An unknown one has a text as well. The memory is static.
const char* code_text(int code);
const char* status_text(int status);
// Returns the code (90 to 99 included) of a completion.
Code code_of_status(protocol::Status status);
// Returns the MX status of a code. -1: there is none.
int mx_status_of_code(int code);

}  // namespace omx::mx
