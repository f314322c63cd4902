// SPDX-License-Identifier: BSD-3-Clause
// Connecting and addresses, for both interfaces (docs/spec/mx-api.md 4.4).
#pragma once

#include "mx/call.h"

namespace omx::mx {

// Checks whether the target can exist. Returns false when it cannot, and `answer` is then what the call
// returns.
bool connect_target_check(Call& call, NicId nic, std::uint32_t endpoint, int& answer);
// Connects and waits for the answer, up to `timeout_ms`. Returns the code of the call; OMX_SUCCESS:
// `connected` is set.
int connect_and_wait(Call& call, NicId nic, std::uint32_t endpoint, std::uint32_t key,
                     std::uint64_t timeout_ms, Address& connected);
// Takes an address apart. Any of the outputs may be nullptr.
int address_parts(const Address& address, std::uint64_t* nic, std::uint32_t* endpoint,
                  std::uint32_t* session);
// Set and get the pointer that the application keeps with an address.
int address_context_set(Call& call, const Address& address, void* context);
int address_context_get(Call& call, const Address& address, void** context);

template <class Api>
typename Api::Return connect(const char* function, typename Api::Endpoint ep, std::uint64_t nic,
                             std::uint32_t id, std::uint32_t key, std::uint32_t timeout,
                             typename Api::Address* addr) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    if (!addr) return call.fail_null("addr");
    if (int answer; !connect_target_check(call, nic, id, answer)) return answer;
    Address connected;
    const int code = connect_and_wait(call, nic, id, key, Api::timeout_ms(timeout), connected);
    if (code == OMX_SUCCESS) *addr = address_out<typename Api::Address>(connected);
    return code;
  });
}

template <class Api>
typename Api::Return iconnect(const char* function, typename Api::Endpoint ep, std::uint64_t nic,
                              std::uint32_t id, std::uint32_t key, std::uint64_t match_info, void* context,
                              typename Api::Request* request) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    if (int answer; !connect_target_check(call, nic, id, answer)) return answer;
    const auto posted =
        call.endpoint().connect(nic, static_cast<std::uint8_t>(id), key, match_info, context, !request);
    if (!posted) return call.fail(posted.error());
    if (request) *request = request_out<typename Api::Request>(*posted);
    return OMX_SUCCESS;
  });
}

template <class Api>
typename Api::Return disconnect(const char* function, typename Api::Endpoint ep, typename Api::Address addr) {
  return endpoint_call<typename Api::Return>(function, ep, [&](Call& call) -> int {
    if (!call.endpoint().disconnect(address_in(addr)))
      return call.fail(OMX_BAD_ENDPOINT, "not an address of this endpoint");
    return OMX_SUCCESS;
  });
}

}  // namespace omx::mx
