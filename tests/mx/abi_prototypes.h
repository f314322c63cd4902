/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every function of docs/spec/mx-api.md 4 assigned to a pointer of its exact type: a changed prototype does
 * not compile, a missing definition does not link. */
#include "mx_internals/mx__driver_interface.h"
#include "mx_internals/mx__fops.h"
#include "mx_raw.h"
#include "myriexpress.h"

#define PROTOTYPE(name, result, arguments)      \
  do {                                          \
    result(*volatile pointer) arguments = name; \
    count += pointer != 0;                      \
  } while (0)

typedef mx_return_t R;
typedef mx_endpoint_t E;
typedef mx_endpoint_addr_t A;
typedef mx_raw_endpoint_t W;

static int prototypes_count(void) {
  int count = 0;
  PROTOTYPE(mx__init_api, R, (int));
  PROTOTYPE(mx_finalize, R, (void));
  PROTOTYPE(mx_set_error_handler, mx_error_handler_t, (mx_error_handler_t));
  PROTOTYPE(mx_strerror, const char*, (R));
  PROTOTYPE(mx_strstatus, const char*, (mx_status_code_t));
  PROTOTYPE(mx_board_number_to_nic_id, R, (uint32_t, uint64_t*));
  PROTOTYPE(mx_nic_id_to_board_number, R, (uint64_t, uint32_t*));
  PROTOTYPE(mx_hostname_to_nic_id, R, (char*, uint64_t*));
  PROTOTYPE(mx_nic_id_to_hostname, R, (uint64_t, char*));
  PROTOTYPE(mx_get_info, R, (E, mx_get_info_key_t, void*, uint32_t, void*, uint32_t));
  PROTOTYPE(mx_open_endpoint, R, (uint32_t, uint32_t, uint32_t, mx_param_t*, uint32_t, E*));
  PROTOTYPE(mx_close_endpoint, R, (E));
  PROTOTYPE(mx_get_endpoint_addr, R, (E, A*));
  PROTOTYPE(mx_wakeup, R, (E));
  PROTOTYPE(mx_disable_progression, R, (E));
  PROTOTYPE(mx_reenable_progression, R, (E));
  PROTOTYPE(mx_progress, R, (E));
  PROTOTYPE(mx_register_unexp_handler, R, (E, mx_unexp_handler_t, void*));
  PROTOTYPE(mx_connect, R, (E, uint64_t, uint32_t, uint32_t, uint32_t, A*));
  PROTOTYPE(mx_iconnect, R, (E, uint64_t, uint32_t, uint32_t, uint64_t, void*, mx_request_t*));
  PROTOTYPE(mx_disconnect, R, (E, A));
  PROTOTYPE(mx_decompose_endpoint_addr, R, (A, uint64_t*, uint32_t*));
  PROTOTYPE(mx_decompose_endpoint_addr2, R, (A, uint64_t*, uint32_t*, uint32_t*));
  PROTOTYPE(mx_set_endpoint_addr_context, R, (A, void*));
  PROTOTYPE(mx_get_endpoint_addr_context, R, (A, void**));
  PROTOTYPE(mx_isend, R, (E, mx_segment_t*, uint32_t, A, uint64_t, void*, mx_request_t*));
  PROTOTYPE(mx_issend, R, (E, mx_segment_t*, uint32_t, A, uint64_t, void*, mx_request_t*));
  PROTOTYPE(mx_irecv, R, (E, mx_segment_t*, uint32_t, uint64_t, uint64_t, void*, mx_request_t*));
  PROTOTYPE(mx_cancel, R, (E, mx_request_t*, uint32_t*));
  PROTOTYPE(mx_forget, R, (E, mx_request_t*));
  PROTOTYPE(mx_test, R, (E, mx_request_t*, mx_status_t*, uint32_t*));
  PROTOTYPE(mx_wait, R, (E, mx_request_t*, uint32_t, mx_status_t*, uint32_t*));
  PROTOTYPE(mx_test_any, R, (E, uint64_t, uint64_t, mx_status_t*, uint32_t*));
  PROTOTYPE(mx_wait_any, R, (E, uint32_t, uint64_t, uint64_t, mx_status_t*, uint32_t*));
  PROTOTYPE(mx_ipeek, R, (E, mx_request_t*, uint32_t*));
  PROTOTYPE(mx_peek, R, (E, uint32_t, mx_request_t*, uint32_t*));
  PROTOTYPE(mx_iprobe, R, (E, uint64_t, uint64_t, mx_status_t*, uint32_t*));
  PROTOTYPE(mx_probe, R, (E, uint32_t, uint64_t, uint64_t, mx_status_t*, uint32_t*));
  PROTOTYPE(mx_ibuffered, R, (E, mx_request_t*, uint32_t*));
  PROTOTYPE(mx_buffered, R, (E, mx_request_t*, uint32_t, uint32_t*));
  PROTOTYPE(mx_context, R, (mx_request_t*, void**));
  PROTOTYPE(mx_set_request_timeout, R, (E, mx_request_t, uint32_t));
  PROTOTYPE(mx_register_unexp_callback, R, (E, mx_matching_callback_t, void*));
  PROTOTYPE(mx_iput, R, (E, void*, uint32_t, A, uint64_t, void*, mx_request_t*));
  PROTOTYPE(mx_iget, R, (E, void*, uint32_t, A, uint64_t, void*, mx_request_t*));
  PROTOTYPE(mx_open_board, R, (int, mx_endpt_handle_t*));
  PROTOTYPE(mx__get_mapper_state, R, (mx_endpt_handle_t, mx_mapper_state_t*));
  PROTOTYPE(mx__regcache_clean, int, (void*, size_t));
  PROTOTYPE(mx_raw_open_endpoint, R, (uint32_t, mx_param_t*, uint32_t, W*));
  PROTOTYPE(mx_raw_close_endpoint, R, (W));
  PROTOTYPE(mx_raw_handle, mx_endpt_handle_t, (W));
  PROTOTYPE(mx_raw_send, R, (W, uint32_t, void*, uint32_t, void*, uint32_t, void*));
  PROTOTYPE(mx_raw_next_event, R, (W, uint32_t*, void**, void*, uint32_t*, uint32_t, mx_raw_status_t*));
  PROTOTYPE(mx_raw_set_route, R, (W, uint64_t, void*, uint32_t, uint32_t, uint32_t, mx_host_type_t));
  PROTOTYPE(mx_raw_set_route_mag, R,
            (W, uint64_t, void*, uint32_t, uint32_t, uint32_t, mx_host_type_t, uint32_t));
  PROTOTYPE(mx_raw_set_route_begin, R, (W));
  PROTOTYPE(mx_raw_set_route_end, R, (W));
  PROTOTYPE(mx_raw_clear_routes, R, (W, uint64_t, uint32_t));
  PROTOTYPE(mx_raw_set_nic_reply_info, R, (W, void*, uint32_t));
  PROTOTYPE(mx_raw_remove_peer, R, (W, uint64_t));
  PROTOTYPE(mx_raw_set_map_version, R, (W, uint32_t, uint64_t, uint32_t, uint32_t, uint32_t));
  PROTOTYPE(mx_raw_num_ports, R, (W, uint32_t*));
  PROTOTYPE(mx_raw_line_speed, R, (W, mx_line_speed_t*));
  PROTOTYPE(mx_raw_set_hostname, R, (W, char*));
  PROTOTYPE(mx_raw_set_peer_name, R, (W, uint64_t, char*));
  return count;
}
