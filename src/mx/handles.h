// SPDX-License-Identifier: BSD-3-Clause
// The endpoints of the two interfaces, as their handles. The endpoint pointer of an interface points into a
// static table with one cell for each slot of the runtime. So an invalid pointer can be recognised without
// following it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "runtime/endpoint/endpoint.h"

#include "myriexpress.h"
#include "open-mx.h"

namespace omx::mx {

// A handler of one of the two types, or none.
struct ErrorHandler {
  mx_error_handler_t mx = nullptr;
  omx_error_handler_t native = nullptr;
  bool set() const { return mx || native; }
};

// The object behind an mx_endpoint_t or omx_endpoint_t. Handles are never freed but reused. So a thread that
// returns from a wait on a closed endpoint finds a handle that says so.
struct Handle {
  std::atomic<runtime::Endpoint*> endpoint{nullptr};  // nullptr: closed
  ErrorHandler error_handler;                         // guarded by the lock of error_handler.cc
};

// Return the handle of a pointer of the interface, or of a slot of the runtime. nullptr: there never was one.
// Thread-safe.
Handle* handle_find(const void* endpoint);
Handle* handle_of_slot(std::uint32_t slot);
// Returns the handle for an endpoint that has just been opened. It still says that it is closed.
Handle& handle_prepare(runtime::Endpoint& endpoint);
// Makes the endpoint known by its handle. Returns its pointer for the interface.
void* handle_publish(Handle& handle, runtime::Endpoint& endpoint);
// Calls `visit` for each open endpoint. No endpoint may be closed meanwhile.
void handles_for_each(const std::function<void(runtime::Endpoint&)>& visit);
// Makes all handles say that their endpoint is closed.
void handles_close_all();

}  // namespace omx::mx
