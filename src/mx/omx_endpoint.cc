// SPDX-License-Identifier: BSD-3-Clause
// The native interface: library, names, endpoints, connection (docs/spec/mx-api.md 9). The mx_*.cc file of
// the family says what each call does.
#include "mx/connect_calls.h"
#include "mx/endpoint_calls.h"
#include "mx/init_calls.h"
#include "mx/names_calls.h"

using namespace omx::mx;
using omx::runtime::Endpoint;
using omx::runtime::Process;

extern "C" {

omx_return_t omx__init_api(int api) {
  return init_call<omx_return_t>("omx_init", api);
}
omx_return_t omx_finalize(void) {
  return finalize_call<omx_return_t>(__func__);
}

omx_return_t omx_board_number_to_nic_id(uint32_t board_number, uint64_t* nic_id) {
  return library_call<omx_return_t>(
      __func__, [&](Call& call, Process& p) { return board_nic(call, p, board_number, nic_id); });
}

omx_return_t omx_nic_id_to_board_number(uint64_t nic_id, uint32_t* board_number) {
  return library_call<omx_return_t>(
      __func__, [&](Call& call, Process& p) { return nic_board(call, p, nic_id, board_number); });
}

omx_return_t omx_hostname_to_nic_id(char* hostname, uint64_t* nic_id) {
  return library_call<omx_return_t>(
      __func__, [&](Call& call, Process& p) { return name_nic(call, p, hostname, nic_id); });
}

omx_return_t omx_nic_id_to_hostname(uint64_t nic_id, char* hostname) {
  return library_call<omx_return_t>(
      __func__, [&](Call& call, Process& p) { return nic_name(call, p, nic_id, hostname); });
}

omx_return_t omx_open_endpoint(uint32_t board_number, uint32_t endpoint_id, uint32_t key,
                               omx_endpoint_param_t* params, uint32_t params_count, omx_endpoint_t* ep) {
  return open<NativeApi>(__func__, board_number, endpoint_id, key, params, params_count, ep);
}

omx_return_t omx_close_endpoint(omx_endpoint_t ep) {
  return endpoint_call<omx_return_t>(
      __func__, ep, [](Call& call) { return endpoint_close(call, NativeApi::kCloseInHandler); });
}

omx_return_t omx_get_endpoint_addr(omx_endpoint_t ep, omx_endpoint_addr_t* addr) {
  return own_address<NativeApi>(__func__, ep, addr);
}

omx_return_t omx_wakeup(omx_endpoint_t ep) {
  return simple_call<omx_return_t>(__func__, ep, &Endpoint::wakeup);
}
omx_return_t omx_progress(omx_endpoint_t ep) {
  return simple_call<omx_return_t>(__func__, ep, &Endpoint::progress);
}

omx_return_t omx_disable_progression(omx_endpoint_t ep) {
  return simple_call<omx_return_t>(__func__, ep, &Endpoint::disable_progression);
}

omx_return_t omx_reenable_progression(omx_endpoint_t ep) {
  return simple_call<omx_return_t>(__func__, ep, &Endpoint::reenable_progression);
}

omx_return_t omx_register_unexp_handler(omx_endpoint_t ep, omx_unexp_handler_t handler, void* context) {
  return register_unexpected<omx_return_t>(__func__, ep, handler, context);
}

omx_return_t omx_connect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint_id, uint32_t key,
                         uint32_t timeout, omx_endpoint_addr_t* addr) {
  return connect<NativeApi>(__func__, ep, nic_id, endpoint_id, key, timeout, addr);
}

omx_return_t omx_iconnect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint_id, uint32_t key,
                          uint64_t match_info, void* context, omx_request_t* request) {
  return iconnect<NativeApi>(__func__, ep, nic_id, endpoint_id, key, match_info, context, request);
}

omx_return_t omx_disconnect(omx_endpoint_t ep, omx_endpoint_addr_t addr) {
  return disconnect<NativeApi>(__func__, ep, addr);
}

omx_return_t omx_decompose_endpoint_addr(omx_endpoint_addr_t addr, uint64_t* nic_id, uint32_t* endpoint_id) {
  return static_cast<omx_return_t>(address_parts(address_in(addr), nic_id, endpoint_id, nullptr));
}

omx_return_t omx_decompose_endpoint_addr_with_session(omx_endpoint_addr_t addr, uint64_t* nic_id,
                                                      uint32_t* endpoint_id, uint32_t* session_id) {
  return static_cast<omx_return_t>(address_parts(address_in(addr), nic_id, endpoint_id, session_id));
}

omx_return_t omx_set_endpoint_addr_context(omx_endpoint_addr_t addr, void* context) {
  return library_call<omx_return_t>(
      __func__, [&](Call& call, Process&) { return address_context_set(call, address_in(addr), context); });
}

omx_return_t omx_get_endpoint_addr_context(omx_endpoint_addr_t addr, void** context) {
  return library_call<omx_return_t>(
      __func__, [&](Call& call, Process&) { return address_context_get(call, address_in(addr), context); });
}

}  // extern "C"
