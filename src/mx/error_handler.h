// SPDX-License-Identifier: BSD-3-Clause
// The error handler (docs/spec/mx-api.md 5) is that of the endpoint. If it has none, the process's handler
// is used, then the initial one. All functions are thread-safe.
#pragma once

#include "config/settings.h"
#include "mx/code_texts.h"
#include "mx/handles.h"

namespace omx::mx {

// Characters of the text that an error handler gets (docs/spec/mx-api.md 5).
inline constexpr std::size_t kTextMax = 255;

// Gives the error to the handler in force and returns what it returns.
int error_raise(Handle* handle, Code code, const char* text);
// Returns whether that handler prints the text by itself.
bool error_handler_prints(Handle* handle);
// Returns whether that handler may use the text: all do but MX_ERRORS_RETURN and OMX_ERRORS_RETURN.
bool error_handler_reads(Handle* handle);
// Replaces a handler (handle nullptr: that of the process). Returns the previous one.
ErrorHandler error_handler_swap(Handle* handle, ErrorHandler handler);
// Makes the initial handler what these settings say, even if the process never starts.
void initial_handler_choose(const runtime::Settings& settings);
// Return the handler in the type of one interface.
mx_error_handler_t as_mx(const ErrorHandler& handler);
omx_error_handler_t as_native(const ErrorHandler& handler);

// The handlers that the interfaces name MX_ERRORS_ARE_FATAL, MX_ERRORS_RETURN, OMX_ERRORS_ARE_FATAL and
// OMX_ERRORS_RETURN.
mx_return_t errors_are_fatal_mx(char* text, mx_return_t code);
mx_return_t errors_return_mx(char* text, mx_return_t code);
omx_return_t errors_are_fatal_native(char* text, omx_return_t code);
omx_return_t errors_return_native(char* text, omx_return_t code);

}  // namespace omx::mx
