// SPDX-License-Identifier: BSD-3-Clause
#include "mx/connect_calls.h"

#include <cassert>
#include <string>

#include "runtime/board/unreached.h"

namespace omx::mx {

namespace {

constexpr NicId kNicMask = (NicId{1} << 48) - 1;
constexpr std::uint32_t kEndpointIds = 256;
// A caller that accepts this time-out can also wait while the network is asked for the reason of a failure.
constexpr std::uint64_t kPatience_ms = 1000;

// Returns the code of a blocking connect that ended with this status (docs/spec/mx-api.md 4.4).
Code connect_code(protocol::Status status) {
  switch (status) {
    case protocol::Status::success:
      return OMX_SUCCESS;
    case protocol::Status::bad_key:
      return OMX_REMOTE_ENDPOINT_BAD_KEY;
    case protocol::Status::bad_endpoint:
      return OMX_REMOTE_ENDPOINT_BAD_ID;
    case protocol::Status::endpoint_closed:
    case protocol::Status::bad_session:  // the answer of an incarnation that is gone
      return OMX_REMOTE_ENDPOINT_CLOSED;
    case protocol::Status::no_resources:
      return OMX_NO_RESOURCES;
    default:
      return OMX_TIMEOUT;
  }
}

// Returns the text for the error handler about a connect that failed. `ask`: the network may be asked for
// the reason.
std::string connect_failure(runtime::Endpoint& ep, NicId nic, std::uint8_t endpoint, Code code, bool silent,
                            bool ask) {
  const std::string peer = ep.peer_text(nic, endpoint);
  std::string text =
      silent ? fmt::format("no answer from {}", peer) : fmt::format("{}: {}", peer, code_text(code));
  const bool refused = code == OMX_REMOTE_ENDPOINT_CLOSED;
  runtime::Process* p = process();
  if (!p || !(refused || code == OMX_TIMEOUT)) return text;
  const std::string reason = p->unreached(nic, endpoint, {refused, ep.silence_advice(nic), ask}).reason;
  return reason.empty() ? text : text + "; " + reason;
}

}  // namespace

bool connect_target_check(Call& call, NicId nic, std::uint32_t endpoint, int& answer) {
  // Any peer may be connected to, but the id must be one that a NIC can have. 0 is the loopback device.
  const runtime::Process* p = process();
  const bool possible = (nic & ~kNicMask) == 0 && !mac_is_group(nic) && (nic != 0 || (p && p->board_of(nic)));
  if (!possible) {
    answer = call.fail(OMX_NIC_NOT_FOUND, "{:#x} is not the id of a NIC", nic);
  } else if (endpoint >= kEndpointIds) {
    answer = call.fail(OMX_REMOTE_ENDPOINT_BAD_ID, "endpoint id {} is above {}", endpoint, kEndpointIds - 1);
  } else {
    return true;
  }
  return false;
}

int connect_and_wait(Call& call, NicId nic, std::uint32_t endpoint, std::uint32_t key,
                     std::uint64_t timeout_ms, Address& connected) {
  assert(endpoint < kEndpointIds);
  runtime::Endpoint& ep = call.endpoint();
  Completion completion;  // pending
  Code code = OMX_TIMEOUT;
  std::string text;
  Expected<Request*, OpError> posted = nullptr;
  {
    // Another thread may close the endpoint, and end the process's use of the library, when this wait has
    // ended.
    const runtime::Endpoint::Pin pin(ep);
    // The request is hidden, because a thread in wait_any or peek must not take it.
    posted = ep.connect(nic, static_cast<std::uint8_t>(endpoint), key, 0, nullptr, false, true);
    if (posted && ep.wait(*posted, timeout_ms, completion) != runtime::WaitOutcome::done) {
      // The request is cancelled, or was answered in the meantime. If the endpoint was closed meanwhile, that
      // has dropped the request.
      const auto cancelled = ep.cancel(*posted);
      if (!cancelled || !*cancelled) ep.test(*posted, completion);
    }
    const bool pending = completion.status == protocol::Status::pending;
    if (completion.status == protocol::Status::success) {
      connected = ep.address_of(completion.peer, completion.session, completion.conversation);
    } else if (posted && !(pending && !call.handle().endpoint)) {
      if (!pending) code = connect_code(completion.status);
      text = connect_failure(ep, nic, static_cast<std::uint8_t>(endpoint), code, pending,
                             timeout_ms >= kPatience_ms && error_handler_reads(&call.handle()));
    }
  }
  if (!posted) return call.fail(posted.error());
  if (completion.status == protocol::Status::success) return OMX_SUCCESS;
  return text.empty() ? OMX_TIMEOUT : call.fail(code, "{}", text);  // closed
}

int address_parts(const Address& address, std::uint64_t* nic, std::uint32_t* endpoint,
                  std::uint32_t* session) {
  const runtime::AddressParts parts = runtime::address_unpack(address);
  if (nic) *nic = parts.nic;
  if (endpoint) *endpoint = parts.endpoint;
  if (session) *session = parts.session;
  return OMX_SUCCESS;
}

namespace {

// Returns the endpoint that the address came from. nullptr: it is not open any more.
runtime::Endpoint* address_owner(const Address& address) {
  Handle* handle = handle_of_slot(runtime::address_unpack(address).slot);
  return handle ? handle->endpoint.load(std::memory_order_acquire) : nullptr;
}

}  // namespace

int address_context_set(Call& call, const Address& address, void* context) {
  runtime::Endpoint* owner = address_owner(address);
  if (!owner || !owner->set_address_context(address, context))
    return call.fail(OMX_BAD_ENDPOINT, "the address belongs to no open endpoint");
  return OMX_SUCCESS;
}

int address_context_get(Call& call, const Address& address, void** context) {
  if (!context) return call.fail_null("context");
  runtime::Endpoint* owner = address_owner(address);
  const auto found = owner ? owner->address_context(address) : std::nullopt;
  if (!found) return call.fail(OMX_BAD_ENDPOINT, "the address belongs to no open endpoint");
  *context = *found;
  return OMX_SUCCESS;
}

}  // namespace omx::mx
