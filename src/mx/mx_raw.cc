// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "base/log.h"
#include "mx/call.h"
#include "mx/map_state.h"
#include "mx/raw_endpoint.h"

namespace omx::mx {

namespace {

using Raw = omx_raw_endpoint;

// Runs `body(raw)`. Raw functions do not call the error handler (docs/spec/mx-api.md 4.8).
template <class Body>
mx_return_t raw_call(Raw* raw, Body&& body) {
  if (!process()) return MX_NOT_INITIALIZED;
  if (!raw) return MX_BAD_ENDPOINT;
  try {
    return body(*raw);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return MX_NO_RESOURCES;
  } catch (const std::exception&) {
    return MX_BAD_BAD_BAD;
  }
}

mx_return_t nothing_to_do(Raw* raw) {
  return raw_call(raw, [](Raw&) { return MX_SUCCESS; });
}

mx_return_t open(std::uint32_t board_number, mx_raw_endpoint_t* endpoint) {
  runtime::Process* p = process();
  if (!p) return MX_NOT_INITIALIZED;
  if (!endpoint) return MX_BAD_BAD_BAD;
  if (board_number >= p->boards().size()) return MX_BOARD_UNKNOWN;
  auto raw = Raw::open(p->boards_now()[board_number]);
  if (!raw) {
    if (raw.error().mx_code != MX_BUSY) log(LogLevel::error, "mx_raw_open_endpoint: {}", raw.error().message);
    return static_cast<mx_return_t>(raw.error().mx_code);
  }
  *endpoint = raw->release();
  return MX_SUCCESS;
}

mx_return_t set_name(NicId nic, const char* hostname, bool local) {
  if (!hostname) return MX_BAD_HOSTNAME_ARGS;
  if (::strnlen(hostname, MX_MAX_HOSTNAME_LEN) == MX_MAX_HOSTNAME_LEN) return MX_BAD_HOSTNAME_ARGS;
  process()->peers().set(nic, hostname, local);
  return MX_SUCCESS;
}

}  // namespace

}  // namespace omx::mx

using namespace omx::mx;

extern "C" {

mx_return_t mx_raw_open_endpoint(uint32_t board_number, mx_param_t*, uint32_t, mx_raw_endpoint_t* endpoint) {
  try {
    return open(board_number, endpoint);
  } catch (const std::exception&) {
    return MX_NO_RESOURCES;
  }
}

mx_return_t mx_raw_close_endpoint(mx_raw_endpoint_t endpoint) {
  // The call is allowed after mx_finalize, because a raw endpoint lives by itself.
  if (!endpoint) return MX_BAD_ENDPOINT;
  delete endpoint;
  return MX_SUCCESS;
}

mx_endpt_handle_t mx_raw_handle(mx_raw_endpoint_t ep) {
  return ep ? ep->descriptor() : MX__INVALID_HANDLE;
}

mx_return_t mx_raw_send(mx_raw_endpoint_t endpoint, uint32_t, void*, uint32_t, void* send_buffer,
                        uint32_t buffer_length, void* context) {
  return raw_call(endpoint, [&](omx_raw_endpoint& raw) {
    if (!send_buffer || !raw.fits(buffer_length)) return MX_BAD_BAD_BAD;
    raw.send({static_cast<const std::byte*>(send_buffer), buffer_length}, context);
    return MX_SUCCESS;
  });
}

mx_return_t mx_raw_next_event(mx_raw_endpoint_t endpoint, uint32_t* incoming_port, void** context,
                              void* recv_buffer, uint32_t* recv_bytes, uint32_t timeout_ms,
                              mx_raw_status_t* status) {
  return raw_call(endpoint, [&](omx_raw_endpoint& raw) {
    if (!status) return MX_BAD_BAD_BAD;
    const std::size_t capacity = recv_buffer && recv_bytes ? *recv_bytes : 0;
    omx_raw_endpoint::Event event;
    if (!raw.next_event({static_cast<std::byte*>(recv_buffer), capacity}, timeout_ms, event))
      return MX_BAD_ENDPOINT;
    *status = event.status;
    if (incoming_port) *incoming_port = 0;
    if (context && event.status == MX_RAW_SEND_COMPLETE) *context = event.context;
    if (recv_bytes && event.status == MX_RAW_RECV_COMPLETE) *recv_bytes = static_cast<uint32_t>(event.length);
    return MX_SUCCESS;
  });
}

mx_return_t mx_raw_set_route(mx_raw_endpoint_t endpoint, uint64_t destination_id, void*, uint32_t, uint32_t,
                             uint32_t, mx_host_type_t) {
  return raw_call(endpoint, [&](omx_raw_endpoint&) {
    process()->peers().add(destination_id);
    return MX_SUCCESS;
  });
}

mx_return_t mx_raw_set_route_mag(mx_raw_endpoint_t endpoint, uint64_t destination_id, void* route,
                                 uint32_t route_length, uint32_t input_port, uint32_t output_port,
                                 mx_host_type_t host_type, uint32_t) {
  return mx_raw_set_route(endpoint, destination_id, route, route_length, input_port, output_port, host_type);
}

mx_return_t mx_raw_set_route_begin(mx_raw_endpoint_t endpoint) {
  return nothing_to_do(endpoint);
}
mx_return_t mx_raw_set_route_end(mx_raw_endpoint_t endpoint) {
  return nothing_to_do(endpoint);
}
mx_return_t mx_raw_clear_routes(mx_raw_endpoint_t endpoint, uint64_t, uint32_t) {
  return nothing_to_do(endpoint);
}
mx_return_t mx_raw_set_nic_reply_info(mx_raw_endpoint_t ep, void*, uint32_t) {
  return nothing_to_do(ep);
}

mx_return_t mx_raw_remove_peer(mx_raw_endpoint_t endpoint, uint64_t) {
  return raw_call(endpoint, [](omx_raw_endpoint&) { return MX_FAILURE; });
}

mx_return_t mx_raw_set_map_version(mx_raw_endpoint_t endpoint, uint32_t, uint64_t mapper_id,
                                   uint32_t map_version, uint32_t num_nodes, uint32_t mapping_complete) {
  return raw_call(endpoint, [&](omx_raw_endpoint& raw) {
    mx_mapper_state_t state{};
    state.board_number = raw.board().number;
    omx::mac_store(reinterpret_cast<std::byte*>(state.mapper_mac), mapper_id);
    state.map_version = map_version;
    state.num_hosts = num_nodes;
    state.network_configured = mapping_complete;
    map_state_set(state);
    return MX_SUCCESS;
  });
}

mx_return_t mx_raw_num_ports(mx_raw_endpoint_t endpoint, uint32_t* num_ports) {
  return raw_call(endpoint, [&](omx_raw_endpoint&) {
    if (!num_ports) return MX_BAD_BAD_BAD;
    *num_ports = 1;
    return MX_SUCCESS;
  });
}

mx_return_t mx_raw_line_speed(mx_raw_endpoint_t endpoint, mx_line_speed_t* speed) {
  return raw_call(endpoint, [&](omx_raw_endpoint&) {
    if (!speed) return MX_BAD_BAD_BAD;
    *speed = MX_SPEED_10G;
    return MX_SUCCESS;
  });
}

mx_return_t mx_raw_set_hostname(mx_raw_endpoint_t endpoint, char* hostname) {
  return raw_call(endpoint,
                  [&](omx_raw_endpoint& raw) { return set_name(raw.board().interface.nic, hostname, true); });
}

mx_return_t mx_raw_set_peer_name(mx_raw_endpoint_t endpoint, uint64_t nic_id, char* hostname) {
  return raw_call(endpoint, [&](omx_raw_endpoint&) { return set_name(nic_id, hostname, false); });
}

}  // extern "C"
