/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Extensions of the MX interface (docs/spec/mx-api.md 4.3 to 4.6). The rules at the top of myriexpress.h hold
 * here too.
 */
#ifndef MX_EXTENSIONS_H
#define MX_EXTENSIONS_H

#include "myriexpress.h"

#pragma GCC visibility push(default)
MX__BEGIN_DECLS

#define MX_HAS_ICONNECT_V2 1

/* ---- unexpected handler ---- */

/* What the library does with a message after the handler has seen it.
 *
 * MX_RECV_CONTINUE: it looks for a receive again, as the handler may have posted one, and else queues the
 * message. MX_RECV_FINISHED: the message is consumed, and the sender's request succeeds. There is an
 * exception, because the handler does not take all data: a large message from another endpoint, and a
 * synchronous one with data, end for the sender with MX_STATUS_TRUNCATED and 0 bytes transferred. */
enum mx_unexp_handler_action MX__ENUM_INT { MX_RECV_CONTINUE = 0, MX_RECV_FINISHED = 1 };
typedef enum mx_unexp_handler_action mx_unexp_handler_action_t;

/* Handles a message that matches no posted receive. The thread that makes progress calls it.
 *
 * `data_if_available` points to the whole message when it came in one frame, or from this endpoint in one
 * segment. Otherwise it is NULL. The data are valid during the call only. The handler may post sends and
 * receives, cancel, test, and read address contexts. It must not close the endpoint, and must not leave by
 * longjmp or a C++ exception. */
typedef mx_unexp_handler_action_t (*mx_unexp_handler_t)(void* context, mx_endpoint_addr_t source,
                                                        uint64_t match_value, uint32_t length,
                                                        void* data_if_available);

/* Installs the handler. NULL removes it. Messages that are already queued are not passed to it. */
mx_return_t mx_register_unexp_handler(mx_endpoint_t ep, mx_unexp_handler_t handler, void* context);

/* ---- progress ---- */

/* Makes one round of progress on the endpoint. Does not wait. */
mx_return_t mx_progress(mx_endpoint_t ep);

/* Between these two calls no message is processed and no handler runs. Disabling waits for a running handler.
 * The calls do not nest: one call undoes any number of the other. Sends posted in between still leave. */
mx_return_t mx_disable_progression(mx_endpoint_t ep);
mx_return_t mx_reenable_progression(mx_endpoint_t ep);

/* ---- connection ---- */

/* Connects without waiting. The request completes like any other, with the peer's address in status.source.
 * Its status codes are MX_STATUS_BAD_KEY, _BAD_ENDPOINT, _ENDPOINT_CLOSED and _ENDPOINT_UNREACHABLE. With
 * `request` NULL there is no completion. MX_NIC_NOT_FOUND: nic_id is no NIC id. MX_BAD_ENDPOINT_ID: `eid` is
 * too large. */
mx_return_t mx_iconnect(mx_endpoint_t ep, uint64_t nic_id, uint32_t eid, uint32_t key, uint64_t match_info,
                        void* context, mx_request_t* request);

/* Forgets the peer. Everything pending with it completes with MX_STATUS_ENDPOINT_UNREACHABLE, and its
 * addresses become invalid. Nothing is sent. MX_BAD_ENDPOINT: `addr` is no address of this endpoint. */
mx_return_t mx_disconnect(mx_endpoint_t ep, mx_endpoint_addr_t addr);

/* Does what mx_decompose_endpoint_addr does, and stores the session too. It changes when the peer is
 * restarted. 0xffffffff stands for an unknown session. */
mx_return_t mx_decompose_endpoint_addr2(mx_endpoint_addr_t endpoint_addr, uint64_t* nic_id,
                                        uint32_t* endpoint_id, uint32_t* session_id);

/* Set and get a pointer that the library keeps for each peer of an endpoint, NULL at first. MX_BAD_ENDPOINT:
 * the address belongs to no open endpoint. */
mx_return_t mx_set_endpoint_addr_context(mx_endpoint_addr_t endpoint_addr, void* context);
mx_return_t mx_get_endpoint_addr_context(mx_endpoint_addr_t endpoint_addr, void** context);

/* ---- requests ---- */

/* Renounces the request's completion and sets *request = 0. The data of a receive still arrive.
 * MX_BAD_REQUEST: *request is no pending request of this endpoint. */
mx_return_t mx_forget(mx_endpoint_t endpoint, mx_request_t* request);

/* Sets how long the peer of this send or connect may be silent before the request fails. 0 means no limit.
 * Request 0 sets the limit of all later requests of the endpoint. */
mx_return_t mx_set_request_timeout(mx_endpoint_t endpoint, mx_request_t request, uint32_t milli_seconds);

/* Does what mx_ibuffered does, but waits up to `timeout` milliseconds. */
mx_return_t mx_buffered(mx_endpoint_t endpoint, mx_request_t* request, uint32_t timeout, uint32_t* result);

/* ---- not supported ---- */

/* These exist for the linker. No version of Open-MX has had them. Each gives MX_FAILURE to the error handler.
 * Use mx_register_unexp_handler instead of the callback, and sends and receives instead of put and get. */
typedef void (*mx_matching_callback_t)(void* context, uint64_t match_value, int length);
mx_return_t mx_register_unexp_callback(mx_endpoint_t ep, mx_matching_callback_t cb, void* ctxt);
mx_return_t mx_iput(mx_endpoint_t endpoint, void* local_addr, uint32_t length,
                    mx_endpoint_addr_t dest_endpoint, uint64_t remote_addr, void* context,
                    mx_request_t* request);
mx_return_t mx_iget(mx_endpoint_t endpoint, void* local_addr, uint32_t length,
                    mx_endpoint_addr_t dest_endpoint, uint64_t remote_addr, void* context,
                    mx_request_t* request);

MX__END_DECLS
#pragma GCC visibility pop

#endif /* MX_EXTENSIONS_H */
