// SPDX-License-Identifier: BSD-3-Clause
// Endpoints, for both interfaces (docs/spec/mx-api.md 4.3).
#pragma once

#include <cstdint>
#include <span>

#include "mx/call.h"

namespace omx::mx {

// The parameters of an open, decoded.
struct OpenParams {
  ErrorHandler error_handler;
  runtime::OpenOptions options;
};

// Takes the parameter for context ids. Returns false when it is refused, and `answer` is then what the call
// returns.
bool open_params_context_id(Call& call, OpenParams& params, std::uint8_t bits, std::uint8_t shift,
                            int& answer);
// Opens an endpoint, and returns its pointer of the interface in `endpoint`. Returns the code of the call.
int endpoint_open(Call& call, runtime::Process& process, const OpenParams& params, void*& endpoint);
// Closes the endpoint of the call. Returns `in_handler_code` inside its handler.
int endpoint_close(Call& call, Code in_handler_code);
// Call handlers of the two types. Their `owner` is the endpoint of the runtime.
protocol::HandlerAction unexpected_mx(const runtime::UnexpectedHandler& self,
                                      const protocol::Arrival& arrival);
protocol::HandlerAction unexpected_native(const runtime::UnexpectedHandler& self,
                                          const protocol::Arrival& arrival);

inline void set_handler(ErrorHandler& handler, mx_error_handler_t function) {
  handler.mx = function;
}
inline void set_handler(ErrorHandler& handler, omx_error_handler_t function) {
  handler.native = function;
}

template <class Api>
bool open_params_take(Call& call, const typename Api::Param* list, std::uint32_t count, OpenParams& params,
                      int& answer) {
  if (count > 0 && !list) {
    answer = call.fail(OMX_BAD_PARAM_LIST, "{} parameters, but no list", count);
    return false;
  }
  for (const auto& param : std::span(list, count)) {
    switch (static_cast<int>(param.key)) {
      case MX_PARAM_ERROR_HANDLER:
        set_handler(params.error_handler, param.val.error_handler);
        break;
      case MX_PARAM_UNEXP_QUEUE_MAX:
        break;  // settings bound the memory of unexpected messages
      case MX_PARAM_CONTEXT_ID:
        if (!open_params_context_id(call, params, param.val.context_id.bits, param.val.context_id.shift,
                                    answer))
          return false;
        break;
      default:
        answer = call.fail(OMX_BAD_PARAM_NAME, "no parameter has key {}", static_cast<int>(param.key));
        return false;
    }
  }
  return true;
}

template <class Api>
typename Api::Return open(const char* function, std::uint32_t board, std::uint32_t id, std::uint32_t key,
                          const typename Api::Param* list, std::uint32_t count,
                          typename Api::Endpoint* endpoint) {
  return library_call<typename Api::Return>(function, [&](Call& call, runtime::Process& p) -> int {
    if (!endpoint) return call.fail_null("endpoint");
    OpenParams params;
    params.options.board = board;
    params.options.endpoint = id;
    params.options.key = key;
    if (int answer; !open_params_take<Api>(call, list, count, params, answer)) return answer;
    void* opened = nullptr;
    const int code = endpoint_open(call, p, params, opened);
    if (opened) *endpoint = static_cast<typename Api::Endpoint>(opened);
    return code;
  });
}

template <class Api>
typename Api::Return own_address(const char* function, typename Api::Endpoint ep,
                                 typename Api::Address* address) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    if (!address) return call.fail_null("endpoint_addr");
    *address = address_out<typename Api::Address>(call.endpoint().address());
    return OMX_SUCCESS;
  });
}

inline auto unexpected_call(mx_unexp_handler_t) {
  return unexpected_mx;
}
inline auto unexpected_call(omx_unexp_handler_t) {
  return unexpected_native;
}

template <class Return, class Function>
Return register_unexpected(const char* name, const void* ep, Function function, void* context) {
  return endpoint_call<Return>(name, ep, [&](Call& call) -> int {
    runtime::UnexpectedHandler handler;
    if (function) {
      handler.call = unexpected_call(function);
      handler.owner = &call.endpoint();
      handler.context = context;
      handler.function = reinterpret_cast<void (*)()>(function);
    }
    call.endpoint().set_unexpected_handler(handler);
    return OMX_SUCCESS;
  });
}

// Runs a call without further arguments.
template <class Return>
Return simple_call(const char* function, const void* ep, void (runtime::Endpoint::*method)()) {
  return endpoint_call<Return>(function, ep, [method](Call& call) -> int {
    (call.endpoint().*method)();
    return OMX_SUCCESS;
  });
}

}  // namespace omx::mx
