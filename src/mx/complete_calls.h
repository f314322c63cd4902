// SPDX-License-Identifier: BSD-3-Clause
// Completion, for both interfaces (docs/spec/mx-api.md 4.5, docs/spec/protocol.md 11 and 12). Arguments are
// those of myriexpress.h.
#pragma once

#include "mx/call.h"

namespace omx::mx {

// Returns the code for the status of a request that did not succeed. The failure is shown to the error
// handler, whose answer counts if it is a code that a status can have. What the application cancelled itself
// is no failure.
[[gnu::cold]] inline int failure_code(Call& call, const Completion& completion) {
  const Code code = code_of_status(completion.status);
  if (code == OMX_CANCELLED) return code;
  const char* const kind = completion.kind == protocol::RequestKind::send      ? "send"
                           : completion.kind == protocol::RequestKind::receive ? "receive"
                                                                               : "connect";
  const int answer = code == OMX_MESSAGE_TRUNCATED ? call.fail(code, "{} truncated to {} of {} bytes", kind,
                                                               completion.xfer_length, completion.msg_length)
                                                   : call.fail(code, "{} failed: {}", kind, code_text(code));
  return mx_status_of_code(answer) < 0 ? code : answer;
}

// Returns the code for the status of a finished request.
inline int completion_code(Call& call, const Completion& completion) {
  return completion.status == protocol::Status::success ? OMX_SUCCESS : failure_code(call, completion);
}

// Returns the sender's address of a Completion or Arrival. A receive that was cancelled has none.
template <class Found>
Address source_of(Call& call, const Found& found) {
  return found.peer ? call.endpoint().address_of(found.peer, found.session, found.conversation) : Address{};
}

inline int no_request(Call& call) {
  return call.fail(OMX_BAD_REQUEST,
                   "it is no request of this endpoint, or was completed or forgotten before");
}

// Returns the code of a test of one request, or of a wait for it, that has not found it done.
inline int not_done(Call& call, runtime::WaitOutcome outcome) {
  return outcome == runtime::WaitOutcome::no_request ? no_request(call) : OMX_SUCCESS;
}

// Waits as `wait(endpoint)` does, and takes the sender's address of what was found. The endpoint is pinned
// for both, because another thread may close it as soon as the wait has ended.
template <class Found, class Wait>
runtime::WaitOutcome wait_pinned(Call& call, const Found& found, Address& source, Wait&& wait) {
  const runtime::Endpoint::Pin pin(call.endpoint());
  const runtime::WaitOutcome outcome = wait(call.endpoint());
  if (outcome == runtime::WaitOutcome::done) source = source_of(call, found);
  return outcome;
}

template <class Api>
void completion_report(Call& call, const Completion& completion, const Address& source,
                       typename Api::Status* status) {
  const int code = completion_code(call, completion);
  if (!status) return;
  Api::set_code(*status, code);
  Api::source(*status) = address_out<typename Api::Address>(source);
  status->match_info = completion.match_info;
  status->msg_length = completion.msg_length;
  status->xfer_length = completion.xfer_length;
  status->context = completion.context;
}

// Runs a call on one request: `body(call, Request*)`.
template <class Api, class Body>
typename Api::Return request_call(const char* function, typename Api::Endpoint ep,
                                  typename Api::Request* request, Body&& body) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    if (!request || !*request) return call.fail(OMX_BAD_REQUEST, "no request");
    return body(call, request_in(*request));
  });
}

// Runs a call that searches by match information: `body(call)`.
template <class Api, class Body>
typename Api::Return match_call(const char* function, typename Api::Endpoint ep, std::uint64_t info,
                                std::uint64_t mask, std::uint32_t* result, Body&& body) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    if (!result) return call.fail_null("result");
    *result = 0;
    if (info & ~mask) return call.fail(OMX_BAD_MATCH_MASK);
    return body(call);
  });
}

template <class Api>
typename Api::Return test(const char* function, typename Api::Endpoint ep, typename Api::Request* request,
                          typename Api::Status* status, std::uint32_t* result) {
  return request_call<Api>(function, ep, request, [&](Call& call, Request* r) -> int {
    if (!result) return call.fail_null("result");
    *result = 0;
    Completion completion;
    const runtime::WaitOutcome outcome = call.endpoint().test(r, completion);
    if (outcome != runtime::WaitOutcome::done) return not_done(call, outcome);
    *request = nullptr;
    completion_report<Api>(call, completion, source_of(call, completion), status);
    *result = 1;
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return wait(const char* function, typename Api::Endpoint ep, typename Api::Request* request,
                          std::uint32_t timeout, typename Api::Status* status, std::uint32_t* result) {
  return request_call<Api>(function, ep, request, [&](Call& call, Request* r) -> int {
    if (!result) return call.fail_null("result");
    *result = 0;
    Completion completion;
    Address source;
    const auto outcome = wait_pinned(call, completion, source, [&](runtime::Endpoint& e) {
      return e.wait(r, Api::timeout_ms(timeout), completion);
    });
    if (outcome != runtime::WaitOutcome::done) return not_done(call, outcome);
    *request = nullptr;
    completion_report<Api>(call, completion, source, status);
    *result = 1;
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return test_any(const char* function, typename Api::Endpoint ep, std::uint64_t info,
                              std::uint64_t mask, typename Api::Status* status, std::uint32_t* result) {
  return match_call<Api>(function, ep, info, mask, result, [&](Call& call) -> int {
    Completion completion;
    if (!call.endpoint().test_any(info, mask, completion)) return OMX_SUCCESS;
    completion_report<Api>(call, completion, source_of(call, completion), status);
    *result = 1;
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return wait_any(const char* function, typename Api::Endpoint ep, std::uint32_t timeout,
                              std::uint64_t info, std::uint64_t mask, typename Api::Status* status,
                              std::uint32_t* result) {
  return match_call<Api>(function, ep, info, mask, result, [&](Call& call) -> int {
    Completion completion;
    Address source;
    const auto outcome = wait_pinned(call, completion, source, [&](runtime::Endpoint& e) {
      return e.wait_any(info, mask, Api::timeout_ms(timeout), completion);
    });
    if (outcome != runtime::WaitOutcome::done) return OMX_SUCCESS;
    completion_report<Api>(call, completion, source, status);
    *result = 1;
    return OMX_SUCCESS;
  });
}

// Runs a peek. `find(endpoint)` returns the request or nullptr.
template <class Api, class Find>
typename Api::Return peek(const char* function, typename Api::Endpoint ep, typename Api::Request* request,
                          std::uint32_t* result, Find&& find) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    if (!request) return call.fail_null("request");
    if (!result) return call.fail_null("result");
    Request* const found = find(call.endpoint());
    *result = found != nullptr;
    if (found) *request = request_out<typename Api::Request>(found);
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return ipeek(const char* function, typename Api::Endpoint ep, typename Api::Request* request,
                           std::uint32_t* result) {
  return peek<Api>(function, ep, request, result, [](runtime::Endpoint& e) { return e.peek(); });
}

template <class Api>
typename Api::Return wait_peek(const char* function, typename Api::Endpoint ep, std::uint32_t timeout,
                               typename Api::Request* request, std::uint32_t* result) {
  return peek<Api>(function, ep, request, result, [timeout](runtime::Endpoint& e) {
    Request* found = nullptr;
    return e.wait_peek(Api::timeout_ms(timeout), found) == runtime::WaitOutcome::done ? found : nullptr;
  });
}

// Runs a probe. `find(call, arrival, source)` returns whether it found a message, and sets its sender.
template <class Api, class Find>
typename Api::Return probe(const char* function, typename Api::Endpoint ep, std::uint64_t info,
                           std::uint64_t mask, typename Api::Status* status, std::uint32_t* result,
                           Find&& find) {
  return match_call<Api>(function, ep, info, mask, result, [&](Call& call) -> int {
    protocol::Arrival arrival;
    Address source;
    if (!find(call, arrival, source)) return OMX_SUCCESS;
    *result = 1;
    if (!status) return OMX_SUCCESS;
    Api::set_code(*status, OMX_SUCCESS);
    Api::source(*status) = address_out<typename Api::Address>(source);
    status->match_info = arrival.match_info;
    status->msg_length = arrival.msg_length;
    status->xfer_length = arrival.msg_length;  // MPICH reads the count here (docs/spec/mx-clients.md 12)
    status->context = nullptr;
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return iprobe(const char* function, typename Api::Endpoint ep, std::uint64_t info,
                            std::uint64_t mask, typename Api::Status* status, std::uint32_t* result) {
  return probe<Api>(function, ep, info, mask, status, result,
                    [=](Call& call, protocol::Arrival& arrival, Address& source) {
                      if (!call.endpoint().probe(info, mask, arrival)) return false;
                      source = source_of(call, arrival);
                      return true;
                    });
}

template <class Api>
typename Api::Return wait_probe(const char* function, typename Api::Endpoint ep, std::uint32_t timeout,
                                std::uint64_t info, std::uint64_t mask, typename Api::Status* status,
                                std::uint32_t* result) {
  return probe<Api>(function, ep, info, mask, status, result,
                    [=](Call& call, protocol::Arrival& arrival, Address& source) {
                      const auto outcome = wait_pinned(call, arrival, source, [&](runtime::Endpoint& e) {
                        return e.wait_probe(info, mask, Api::timeout_ms(timeout), arrival);
                      });
                      return outcome == runtime::WaitOutcome::done;
                    });
}

template <class Api>
typename Api::Return cancel(const char* function, typename Api::Endpoint ep, typename Api::Request* request,
                            std::uint32_t* result, bool complete) {
  // The result is set before anything can fail, because Open MPI reads it even after an error
  // (docs/spec/mx-clients.md 9).
  if (result) *result = 0;
  return request_call<Api>(function, ep, request, [&](Call& call, Request* r) -> int {
    if (!result) return call.fail_null("result");
    const auto cancelled = call.endpoint().cancel(r, complete);
    if (!cancelled)
      return call.fail(OMX_BAD_REQUEST,
                       "neither a receive nor a connect of this endpoint that is not completed yet "
                       "(a send cannot be cancelled)");
    if (*cancelled && !complete) *request = nullptr;
    *result = *cancelled;
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return forget(const char* function, typename Api::Endpoint ep, typename Api::Request* request) {
  return request_call<Api>(function, ep, request, [&](Call& call, Request* r) -> int {
    if (!call.endpoint().forget(r)) return no_request(call);
    *request = nullptr;
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return ibuffered(const char* function, typename Api::Endpoint ep,
                               typename Api::Request* request, std::uint32_t* result) {
  return request_call<Api>(function, ep, request, [&](Call& call, Request* r) -> int {
    if (!result) return call.fail_null("result");
    *result = 0;
    const auto buffered = call.endpoint().buffered(r);
    if (!buffered) return OMX_BAD_REQUEST;  // not through the handler (docs/spec/mx-api.md 4.5)
    *result = *buffered;
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return set_request_timeout(const char* function, typename Api::Endpoint ep,
                                         typename Api::Request request, std::uint32_t ms) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    // The infinite value of either interface means no limit in both (docs/spec/protocol.md 11).
    const bool infinite = ms == MX_INFINITE || ms == OMX_TIMEOUT_INFINITE;
    return call.endpoint().set_timeout(request_in(request), infinite ? runtime::kForever : ms)
               ? OMX_SUCCESS
               : no_request(call);
  });
}

// Returns in `context` what the application gave when it posted the request.
int request_context(Call& call, const Request* request, void** context);

}  // namespace omx::mx
