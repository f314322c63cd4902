// SPDX-License-Identifier: BSD-3-Clause
// The frame that every function of the MX and native interfaces runs in, and what differs between the two.
// The road of a call: mx_*.cc (or omx_*.cc) -> *_calls.h -> runtime/endpoint/endpoint.h.
#pragma once

#include <cxxabi.h>
#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "base/expected.h"
#include "mx/code_texts.h"
#include "mx/error_handler.h"
#include "mx/handles.h"
#include "mx/process.h"
#include "runtime/endpoint/endpoint.h"

#include "mx_internals/mx__driver_interface.h"
#include "mx_internals/mx__fops.h"
#include "myriexpress.h"
#include "open-mx.h"

namespace omx::mx {

using protocol::Completion;
using protocol::OpError;
using protocol::Request;
using runtime::Address;

inline constexpr const char* kForeign =
    "the endpoint was opened before this process was forked; call mx_finalize and mx_init here, or exec";

// One call of an interface function. It decides where errors go.
class Call {
 public:
  Call(const char* function, Handle* handle, runtime::Endpoint* endpoint)
      : function_(function), handle_(handle), endpoint_(endpoint) {}

  // Return what a call on an open endpoint has.
  Handle& handle() {
    assert(handle_);
    return *handle_;
  }
  runtime::Endpoint& endpoint() {
    assert(endpoint_);
    return *endpoint_;
  }

  // Raises an error with the text "function: text", at most kTextMax characters. Returns what the handler
  // returns.
  template <class... Args>
  [[gnu::cold]] int fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
    return raise(code, fmt::format(format, std::forward<Args>(args)...));
  }
  int fail(Code code) { return fail(code, "{}", code_text(code)); }
  int fail(OpError error) { return fail(static_cast<Code>(error)); }
  int fail_null(const char* argument) { return fail(OMX_BAD_BAD_BAD, "{} is NULL", argument); }
  // Raises a failure of the set-up, which the user has to remedy. It is printed even if the program handles
  // errors. It is printed whole if the handler's text has no room for it.
  int fail_loudly(const Failure& failure);

 private:
  int raise(Code code, const std::string& text);

  const char* function_;
  Handle* handle_;
  runtime::Endpoint* endpoint_;
};

// Runs `body(call)`. No exception leaves it, except that of a cancelled thread. No function here is meant to
// be a cancellation point, but a user's handler may be one.
template <class Return, class Body>
[[gnu::always_inline]] inline Return guarded(Call& call, Body&& body) {
  int code;
  try {
    code = body(call);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    code = call.fail(OMX_NO_RESOURCES, "out of memory");
  } catch (const std::exception& e) {
    code = call.fail(OMX_BAD_BAD_BAD, "internal error: {}", e.what());
  }
  return static_cast<Return>(code);
}

// Runs a function of an endpoint.
template <class Return, class Body>
[[gnu::always_inline]] inline Return endpoint_call(const char* function, const void* endpoint, Body&& body) {
  Handle* handle = handle_find(endpoint);
  runtime::Endpoint* open = handle ? handle->endpoint.load(std::memory_order_acquire) : nullptr;
  Call call(function, open ? handle : nullptr, open);
  if (!open) [[unlikely]]
    return static_cast<Return>(process() ? call.fail(OMX_BAD_ENDPOINT, "not an open endpoint")
                                         : call.fail(OMX_NOT_INITIALIZED));
  if (open->foreign()) [[unlikely]]
    return static_cast<Return>(call.fail(OMX_BAD_ENDPOINT, "{}", kForeign));
  return guarded<Return>(call, body);
}

// Runs a function of the library.
template <class Return, class Body>
Return library_call(const char* function, Body&& body) {
  Call call(function, nullptr, nullptr);
  runtime::Process* p = process();
  if (!p) return static_cast<Return>(call.fail(OMX_NOT_INITIALIZED));
  return guarded<Return>(call, [&](Call& c) { return body(c, *p); });
}

// --- what differs between the two interfaces ---

struct MxApi {
  using Return = mx_return_t;
  using Endpoint = mx_endpoint_t;
  using Request = mx_request_t;
  using Status = mx_status_t;
  using Address = mx_endpoint_addr_t;
  using Segment = mx_segment_t;
  using Param = mx_param_t;
  static constexpr Code kCloseInHandler = OMX_CLOSE_IN_HANDLER;
  static std::uint64_t timeout_ms(std::uint32_t ms) { return ms == MX_INFINITE ? runtime::kForever : ms; }
  static void* base(const Segment& s) { return s.segment_ptr; }
  static std::uint32_t length(const Segment& s) { return s.segment_length; }
  static void set_code(Status& status, int code) {
    status.code = static_cast<mx_status_code_t>(mx_status_of_code(code));
  }
  static Address& source(Status& status) { return status.source; }
};

struct NativeApi {
  using Return = omx_return_t;
  using Endpoint = omx_endpoint_t;
  using Request = omx_request_t;
  using Status = omx_status_t;
  using Address = omx_endpoint_addr_t;
  using Segment = omx_seg_t;
  using Param = omx_endpoint_param_t;
  static constexpr Code kCloseInHandler = OMX_NOT_SUPPORTED_IN_HANDLER;
  static std::uint64_t timeout_ms(std::uint32_t ms) {
    return ms == OMX_TIMEOUT_INFINITE ? runtime::kForever : ms;
  }
  static void* base(const Segment& s) { return s.ptr; }
  static std::uint32_t length(const Segment& s) { return s.len; }
  static void set_code(Status& status, int code) { status.code = static_cast<omx_return_t>(code); }
  static Address& source(Status& status) { return status.addr; }
};

// Convert between the address type of an interface and the runtime's.
template <class Out>
Out address_out(const Address& address) {
  Out out;
  out.stuff[0] = address.stuff[0];
  out.stuff[1] = address.stuff[1];
  return out;
}

template <class In>
Address address_in(const In& in) {
  return Address{{in.stuff[0], in.stuff[1]}};
}

// Convert between the request pointer of an interface and the engine's, which are the same.
template <class Opaque>
Request* request_in(Opaque request) {
  return reinterpret_cast<Request*>(request);
}
template <class Opaque>
Opaque request_out(Request* request) {
  return reinterpret_cast<Opaque>(request);
}

}  // namespace omx::mx
