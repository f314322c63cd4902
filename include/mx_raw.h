/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Raw frames, for mapper daemons (docs/spec/mx-api.md 4.8).
 *
 * Errors are returned without calling the error handler. One process at a time may have a board's raw
 * endpoint. Any thread may call, but only one thread at a time per raw endpoint. Lengths are in bytes. */
#ifndef MX_RAW_H
#define MX_RAW_H

#include "mx_io.h"
#include "myriexpress.h"

#pragma GCC visibility push(default)
MX__BEGIN_DECLS

#define MX_RAW_POLL_SUPPORTED 1
#define MX_SET_ROUTE_TAKES_MAGID 1
#define MX_HAS_RAW_LINE_SPEED 1
#define MX_HAS_RAW_SET_NIC_REPLY_INFO 1

typedef struct omx_raw_endpoint* mx_raw_endpoint_t;

typedef int mx_raw_status_t;
#define MX_RAW_NO_EVENT 0
#define MX_RAW_SEND_COMPLETE 1
#define MX_RAW_RECV_COMPLETE 2
/* Reasons why a Myrinet board died. Open-MX never returns them. */
#define MX_DEAD_RECOVERABLE_SRAM_PARITY_ERROR 10
#define MX_DEAD_SRAM_PARITY_ERROR 11
#define MX_DEAD_WATCHDOG_TIMEOUT 12
#define MX_DEAD_COMMAND_TIMEOUT 13
#define MX_DEAD_ENDPOINT_CLOSE_TIMEOUT 14
#define MX_DEAD_ROUTE_UPDATE_TIMEOUT 15
#define MX_DEAD_PCI_PARITY_ERROR 16
#define MX_DEAD_PCI_MASTER_ABORT 17

typedef enum MX__ENUM_INT { MX_HOST_GM = 1, MX_HOST_XM = 2, MX_HOST_MX = 3, MX_HOST_MXvM = 4 } mx_host_type_t;

/* Opens a board's raw endpoint. Parameters are ignored. MX_BOARD_UNKNOWN: there is no such board. MX_BUSY:
 * another process has it open. MX_NO_PERM: CAP_NET_RAW is missing. MX_NO_RESOURCES. */
mx_return_t mx_raw_open_endpoint(uint32_t board_number, mx_param_t* params_array, uint32_t params_count,
                                 mx_raw_endpoint_t* endpoint);
/* Closes the endpoint and its descriptor. The board may be opened again. */
mx_return_t mx_raw_close_endpoint(mx_raw_endpoint_t endpoint);

/* Returns a descriptor that polls readable when there may be an event. It belongs to the endpoint: do not
 * close it. */
mx_endpt_handle_t mx_raw_handle(mx_raw_endpoint_t ep);

/* Sends `buffer_length` bytes as one frame, Ethernet header included, and queues a SEND_COMPLETE event. The
 * buffer may be reused on return. Port and route are ignored. MX_BAD_BAD_BAD: the frame is shorter than an
 * Ethernet header or longer than the interface can send. */
mx_return_t mx_raw_send(mx_raw_endpoint_t endpoint, uint32_t physical_port, void* route_pointer,
                        uint32_t route_length, void* send_buffer, uint32_t buffer_length, void* context);

/* Waits up to `timeout_ms` milliseconds (0: not at all) for the next event. *status becomes one of:
 *  - MX_RAW_NO_EVENT,
 *  - MX_RAW_SEND_COMPLETE, with the send's context in *context,
 *  - MX_RAW_RECV_COMPLETE, with the whole frame in recv_buffer and its length in *recv_bytes.
 * On entry *recv_bytes is the room in recv_buffer. Bytes that do not fit are cut off. *incoming_port is 0.
 * Any pointer except `status` may be NULL. MX_BAD_ENDPOINT: the interface is gone. */
mx_return_t mx_raw_next_event(mx_raw_endpoint_t endpoint, uint32_t* incoming_port, void** context,
                              void* recv_buffer, uint32_t* recv_bytes, uint32_t timeout_ms,
                              mx_raw_status_t* status);

/* Adds NIC id `destination_id` to this process's table of peers, without a name. Routes and ports are
 * ignored. */
mx_return_t mx_raw_set_route(mx_raw_endpoint_t endpoint, uint64_t destination_id, void* route,
                             uint32_t route_length, uint32_t input_port, uint32_t output_port,
                             mx_host_type_t host_type);
mx_return_t mx_raw_set_route_mag(mx_raw_endpoint_t endpoint, uint64_t destination_id, void* route,
                                 uint32_t route_length, uint32_t input_port, uint32_t output_port,
                                 mx_host_type_t host_type, uint32_t mag_id);

/* Do nothing and return MX_SUCCESS, because Ethernet has no routes. */
mx_return_t mx_raw_set_route_begin(mx_raw_endpoint_t endpoint);
mx_return_t mx_raw_set_route_end(mx_raw_endpoint_t endpoint);
mx_return_t mx_raw_clear_routes(mx_raw_endpoint_t endpoint, uint64_t destination_id, uint32_t port);
mx_return_t mx_raw_set_nic_reply_info(mx_raw_endpoint_t ep, void* blob, uint32_t size);

/* Returns MX_FAILURE: not supported, as in Open-MX 1.x. Communication needs no peer table, so a peer that
 * stays in it does no harm. */
mx_return_t mx_raw_remove_peer(mx_raw_endpoint_t endpoint, uint64_t destination_id);

/* Sets what mx__get_mapper_state returns in this process. */
mx_return_t mx_raw_set_map_version(mx_raw_endpoint_t endpoint, uint32_t physical_port, uint64_t mapper_id,
                                   uint32_t map_version, uint32_t num_nodes, uint32_t mapping_complete);

/* Store the number of ports, which is 1, and the speed of the board's line. */
mx_return_t mx_raw_num_ports(mx_raw_endpoint_t endpoint, uint32_t* num_ports);
mx_return_t mx_raw_line_speed(mx_raw_endpoint_t endpoint, mx_line_speed_t* speed);

/* Name this board, or a peer, in this process's table. The names are copied: at most MX_MAX_HOSTNAME_LEN
 * bytes with the final NUL. */
mx_return_t mx_raw_set_hostname(mx_raw_endpoint_t endpoint, char* hostname);
mx_return_t mx_raw_set_peer_name(mx_raw_endpoint_t endpoint, uint64_t nic_id, char* hostname);

MX__END_DECLS
#pragma GCC visibility pop

#endif /* MX_RAW_H */
