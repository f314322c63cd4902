/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Extensions of the MX interface (mx-api.md 4.3 to 4.6). The rules at the top of myriexpress.h hold here too.
 */
#ifndef MX_EXTENSIONS_H
#define MX_EXTENSIONS_H

#include "myriexpress.h"

#pragma GCC visibility push(default)
MX__BEGIN_DECLS

#define MX_HAS_ICONNECT_V2 1

/* ---- unexpected handler ---- */

/* MX_RECV_CONTINUE: look for a receive again (the handler may have posted one), else queue the message.
 * MX_RECV_FINISHED: the message is consumed. The sender's request succeeds; that of a large message from
 * another endpoint, or of a synchronous one with data, ends with MX_STATUS_TRUNCATED and 0 bytes transferred,
 * as nobody took the data. */
enum mx_unexp_handler_action MX__ENUM_INT { MX_RECV_CONTINUE = 0, MX_RECV_FINISHED = 1 };
typedef enum mx_unexp_handler_action mx_unexp_handler_action_t;

/* Called for each message that matches no posted receive, by whichever thread makes progress.
 * `data_if_available` points to the whole message when it came in one frame, or from this endpoint in one
 * segment, else it is NULL; it is valid during the call only. The handler may post sends and receives,
 * cancel, test, and look at address contexts, but not close the endpoint. It must not leave by longjmp or a
 * C++ exception. */
typedef mx_unexp_handler_action_t (*mx_unexp_handler_t)(void* context, mx_endpoint_addr_t source,
                                                        uint64_t match_value, uint32_t length,
                                                        void* data_if_available);

/* Installs the handler; NULL removes it. Messages that are queued already are not shown to it. */
mx_return_t mx_register_unexp_handler(mx_endpoint_t ep, mx_unexp_handler_t handler, void* context);

/* ---- progress ---- */

/* One round of progress on the endpoint. */
mx_return_t mx_progress(mx_endpoint_t ep);

/* Between the two no message is processed and no handler runs; disabling waits for a running handler. Neither
 * counts how often it was called. Sends posted meanwhile still leave. */
mx_return_t mx_disable_progression(mx_endpoint_t ep);
mx_return_t mx_reenable_progression(mx_endpoint_t ep);

/* ---- connection ---- */

/* Connects without waiting. Completes like any request; status.source is the address. Status codes: BAD_KEY,
 * BAD_ENDPOINT, ENDPOINT_CLOSED, ENDPOINT_UNREACHABLE. `request` NULL: no completion is wanted.
 * MX_NIC_NOT_FOUND: not a NIC id; MX_BAD_ENDPOINT_ID. */
mx_return_t mx_iconnect(mx_endpoint_t ep, uint64_t nic_id, uint32_t eid, uint32_t key, uint64_t match_info,
                        void* context, mx_request_t* request);

/* Forgets the peer: everything pending with it completes as unreachable and its addresses become invalid.
 * Nothing is sent. MX_BAD_ENDPOINT: not an address of this endpoint. */
mx_return_t mx_disconnect(mx_endpoint_t ep, mx_endpoint_addr_t addr);

/* As mx_decompose_endpoint_addr, and the session: it changes when the peer is restarted. 0xffffffff: unknown.
 */
mx_return_t mx_decompose_endpoint_addr2(mx_endpoint_addr_t endpoint_addr, uint64_t* nic_id,
                                        uint32_t* endpoint_id, uint32_t* session_id);

/* One pointer per peer of an endpoint, at first NULL. MX_BAD_ENDPOINT: the address belongs to no open
 * endpoint. */
mx_return_t mx_set_endpoint_addr_context(mx_endpoint_addr_t endpoint_addr, void* context);
mx_return_t mx_get_endpoint_addr_context(mx_endpoint_addr_t endpoint_addr, void** context);

/* ---- requests ---- */

/* No completion is wanted any more; *request = 0. The data of a receive still arrive. MX_BAD_REQUEST. */
mx_return_t mx_forget(mx_endpoint_t endpoint, mx_request_t* request);

/* How long the peer of this send or connect may be silent before it fails; 0: for ever. Request 0: for all
 * later requests of the endpoint. */
mx_return_t mx_set_request_timeout(mx_endpoint_t endpoint, mx_request_t request, uint32_t milli_seconds);

/* As mx_ibuffered, waiting. */
mx_return_t mx_buffered(mx_endpoint_t endpoint, mx_request_t* request, uint32_t timeout, uint32_t* result);

/* ---- not supported ---- */

/* These exist for the linker; Open-MX never had them. Each gives MX_FAILURE to the error handler. Use
 * mx_register_unexp_handler instead of the callback, sends and receives instead of put and get. */
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
