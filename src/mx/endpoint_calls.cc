// SPDX-License-Identifier: BSD-3-Clause
#include "mx/endpoint_calls.h"

namespace omx::mx {

namespace {

// Returns whether the failure is an answer and no accident. Programs try one id or board after the other, or
// search for an endpoint.
bool is_answer(int code) {
  return code == OMX_BUSY || code == OMX_BOARD_UNKNOWN || code == OMX_BAD_ENDPOINT;
}

}  // namespace

bool open_params_context_id(Call& call, OpenParams& params, std::uint8_t bits, std::uint8_t shift,
                            int& answer) {
  if (bits > MX_CONTEXT_ID_BITS_MAX || bits + shift > 64) {
    answer = call.fail(OMX_BAD_PARAM_VAL, "context id of {} bits at {}: at most {} bits, inside 64", bits,
                       shift, MX_CONTEXT_ID_BITS_MAX);
    return false;
  }
  params.options.context_bits = bits;
  params.options.context_shift = shift;
  return true;
}

int endpoint_open(Call& call, runtime::Process& process, const OpenParams& params, void*& endpoint) {
  const auto opened = process.open(params.options);
  if (!opened) {
    const Failure& failure = opened.error();
    return is_answer(failure.mx_code) ? call.fail(static_cast<Code>(failure.mx_code), "{}", failure.message)
                                      : call.fail_loudly(failure);
  }
  Handle& handle = handle_prepare(**opened);
  error_handler_swap(&handle, params.error_handler);
  endpoint = handle_publish(handle, **opened);
  return OMX_SUCCESS;
}

int endpoint_close(Call& call, Code in_handler_code) {
  if (call.endpoint().in_handler()) return call.fail(in_handler_code, "called from the endpoint's handler");
  {
    // The handler of the endpoint may run in there, and may call the library until it returns.
    const runtime::Endpoint::Pin pin(call.endpoint());
    call.endpoint().end_background();
  }
  runtime::Process* p = process();
  // If two threads close the same endpoint, one comes too late.
  runtime::Endpoint* mine = call.handle().endpoint.exchange(nullptr);
  if (!mine || !p || !p->close(mine)) return call.fail(OMX_BAD_ENDPOINT, "not an open endpoint");
  return OMX_SUCCESS;
}

namespace {

// Calls a handler for unexpected messages. `done` is the answer that means "the message is dealt with". With
// any other answer the message is kept, which is safe.
template <class ApiAddress, class Function, class Answer>
protocol::HandlerAction unexpected(const runtime::UnexpectedHandler& self, const protocol::Arrival& arrival,
                                   Answer done) {
  const auto* endpoint = static_cast<const runtime::Endpoint*>(self.owner);
  const Address source = endpoint->address_of(arrival.peer, arrival.session, arrival.conversation);
  // The handler must not write to the data, although its type in the interface has no const.
  void* data = const_cast<std::byte*>(arrival.data);
  const auto function = reinterpret_cast<Function>(self.function);
  const bool finished = function(self.context, address_out<ApiAddress>(source), arrival.match_info,
                                 arrival.msg_length, data) == done;
  return finished ? protocol::HandlerAction::finished : protocol::HandlerAction::proceed;
}

}  // namespace

protocol::HandlerAction unexpected_mx(const runtime::UnexpectedHandler& self,
                                      const protocol::Arrival& arrival) {
  return unexpected<mx_endpoint_addr_t, mx_unexp_handler_t>(self, arrival, MX_RECV_FINISHED);
}

protocol::HandlerAction unexpected_native(const runtime::UnexpectedHandler& self,
                                          const protocol::Arrival& arrival) {
  return unexpected<omx_endpoint_addr_t, omx_unexp_handler_t>(self, arrival, OMX_UNEXP_HANDLER_RECV_FINISHED);
}

}  // namespace omx::mx
