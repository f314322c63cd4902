# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages of functions: which functions share a page, and what the headers' comments do not say."""

DATE = "November 26, 2026"

RETURNS = """
.Dv MX_SUCCESS ,
or what the error handler returned for the code named above (see
.Xr mx_set_error_handler 3 ) .
Every function may also give
.Dv MX_NOT_INITIALIZED ,
.Dv MX_BAD_ENDPOINT ,
.Dv MX_BAD_BAD_BAD
(an argument is NULL that may not be) and
.Dv MX_NO_RESOURCES .
"""
NATIVE = """
.Dv OMX_SUCCESS ,
or what the error handler returned for the code.
Codes up to 43 have the values and meanings of the MX interface.
"""
MX, OMX = "open-mx.7", "omx_init.3"


def page(items, about, text="", returns=RETURNS, also=(MX,)):
    items = items.split()
    return {"name": items[0], "items": items, "about": about, "text": text, "returns": returns, "also": also}


PAGES = [
    page("mx_init mx__init_api mx_finalize mx_set_error_handler mx_error_handler_t MX_ERRORS_ARE_FATAL MX_ERRORS_RETURN "
         "mx_strerror mx_strstatus mx_return_code mx_status_code", "begin and end, errors and their texts", r"""
.Fn mx_init
is a macro that passes the version of the headers to
.Fn mx__init_api .
Only
.Fn mx_set_error_handler ,
.Fn mx_strerror
and
.Fn mx_strstatus
may be called before it.
Any thread may call any function of the library at any time, but
.Fn mx_init
and
.Fn mx_finalize
must not run at the same time as other calls.
After
.Xr fork 2
endpoints belong to the parent.
A child may call
.Fn mx_finalize
and
.Fn mx_init
to open its own.
""", RETURNS.replace(".Xr mx_set_error_handler 3 ) .", ".Fn mx_set_error_handler ) ."),
         (MX, "mx_open_endpoint.3", "open-mx.conf.5")),
    page("mx_board_number_to_nic_id mx_nic_id_to_board_number mx_hostname_to_nic_id mx_nic_id_to_hostname",
         "boards of this host, and names of NICs", r"""
A board is an Ethernet interface that Open-MX uses.
Its NIC id is its MAC address as a number.
""", also=(MX, "omx-peers.1", "open-mx.conf.5")),
    page("mx_get_info mx_get_info_key mx_line_speed mx_net_type", "facts about boards, endpoints and counters",
         also=(MX, "omx-info.1", "omx-counters.1")),
    page("mx_open_endpoint mx_close_endpoint mx_get_endpoint_addr mx_wakeup mx_param_key", "endpoints", r"""
An endpoint sends and receives messages.
A process may have several, on one board or on several.
Its endpoints close when it ends, however it ends.
""", also=(MX, "mx_init.3", "mx_connect.3", "mx_progress.3")),
    page("mx_progress mx_disable_progression mx_reenable_progression", "progress of an endpoint", r"""
Every call that tests or waits makes progress.
While the application makes no calls, a thread makes progress
.Pq see Ev OMX_PROGRESS No in Xr open-mx.conf 5 .
These functions are for programs that want to control this.
""", also=(MX, "mx_register_unexp_handler.3", "mx_test.3", "open-mx.conf.5")),
    page("mx_register_unexp_handler mx_unexp_handler_t mx_unexp_handler_action mx_register_unexp_callback "
         "mx_matching_callback_t", "handler of unexpected messages", also=(MX, "mx_isend.3", "mx_iprobe.3")),
    page("mx_connect mx_iconnect mx_disconnect", "connect to another endpoint", r"""
An address is needed to send.
A connect or a received message gives it.
""", also=(MX, "mx_decompose_endpoint_addr.3", "mx_hostname_to_nic_id.3", "mx_isend.3")),
    page("mx_decompose_endpoint_addr mx_decompose_endpoint_addr2 mx_set_endpoint_addr_context "
         "mx_get_endpoint_addr_context", "parts and context of an address", r"""
Two addresses of one endpoint may differ in their bytes.
Compare the results of
.Fn mx_decompose_endpoint_addr
instead.
""", also=(MX, "mx_connect.3")),
    page("mx_isend mx_issend mx_irecv", "send and receive messages", r"""
A message carries 64 bits of match information and goes to the first receive that matches.
Messages from one endpoint to another are matched in the order in which they were sent.
""", also=(MX, "mx_test.3", "mx_iprobe.3", "mx_cancel.3", "mx_connect.3")),
    page("mx_test mx_wait mx_test_any mx_wait_any mx_ipeek mx_peek", "completion of requests", r"""
Each request that was not forgotten must be completed once by one of these functions.
The error handler is also called for failed completions.
The function itself succeeds, and
.Va status.code
says how the request ended.
Timeouts are in milliseconds;
.Dv MX_INFINITE
waits indefinitely.
After a timeout the function succeeds with
.Fa *result
0.
""", also=(MX, "mx_isend.3", "mx_cancel.3", "mx_wakeup.3", "mx_init.3")),
    page("mx_iprobe mx_probe", "find messages that wait for a receive", also=(MX, "mx_isend.3", "mx_test.3")),
    page("mx_cancel mx_forget mx_set_request_timeout mx_context mx_ibuffered mx_buffered",
         "requests in progress", also=(MX, "mx_isend.3", "mx_test.3")),
    page("mx_iput mx_iget", "remote memory, not supported", also=(MX, "mx_isend.3")),
    page("mx_open_board mx__get_mapper_state mx__regcache_clean", "functions that MPI libraries call",
         returns=r"""
.Dv MX_SUCCESS ,
.Dv MX_BOARD_UNKNOWN
or
.Dv MX_NOT_INITIALIZED .
.Fn mx__regcache_clean
always returns 0.
""", also=(MX, "mx_raw_open_endpoint.3")),
    page("mx_raw_open_endpoint mx_raw_close_endpoint mx_raw_handle mx_raw_send mx_raw_next_event mx_raw_num_ports "
         "mx_raw_line_speed mx_raw_set_hostname mx_raw_set_peer_name mx_raw_remove_peer mx_raw_set_map_version "
         "mx_raw_set_route mx_raw_set_route_mag mx_raw_set_route_begin mx_raw_set_route_end mx_raw_clear_routes "
         "mx_raw_set_nic_reply_info", "raw frames, for mapper daemons", r"""
Only one process at a time may open the raw endpoint of a board.
Any thread may call these functions, but only one at a time for each raw endpoint.
An Ethernet board has one port, of the speed
.Dv MX_SPEED_10G .
""", returns=r"""
.Dv MX_SUCCESS
or the code.
The error handler is not called.
""", also=(MX, "mx_open_board.3")),
    page("omx_init omx__init_api omx_finalize omx_set_error_handler omx_error_handler_t OMX_ERRORS_ARE_FATAL "
         "OMX_ERRORS_RETURN omx_strerror omx_board_number_to_nic_id omx_nic_id_to_board_number omx_hostname_to_nic_id "
         "omx_nic_id_to_hostname omx_get_info omx_info_key omx_return_code", "native interface: library, names, facts", r"""
The native interface is the MX interface with contiguous buffers beside segment lists, one set of codes for returns
and completions, and an infinite timeout that is not 0.
Both may be used in one process.
""", NATIVE, (MX, "mx_init.3", "omx_open_endpoint.3")),
    page("omx_open_endpoint omx_close_endpoint omx_get_endpoint_addr omx_wakeup omx_progress omx_disable_progression "
         "omx_reenable_progression omx_register_unexp_handler omx_unexp_handler_t omx_unexp_handler_action "
         "omx_endpoint_param_key", "native interface: endpoints", "", NATIVE, (MX, OMX, "mx_open_endpoint.3")),
    page("omx_connect omx_iconnect omx_disconnect omx_decompose_endpoint_addr omx_decompose_endpoint_addr_with_session "
         "omx_set_endpoint_addr_context omx_get_endpoint_addr_context", "native interface: connection and addresses", r"""
The timeout of
.Fn omx_connect
may be
.Dv OMX_TIMEOUT_INFINITE .
""", NATIVE, (MX, OMX, "mx_connect.3", "mx_decompose_endpoint_addr.3")),
    page("omx_isend omx_issend omx_irecv omx_isendv omx_issendv omx_irecvv", "native interface: messages", r"""
A message is one buffer or a list of segments.
""", NATIVE, (MX, OMX, "omx_test.3", "mx_isend.3")),
    page("omx_test omx_wait omx_test_any omx_wait_any omx_ipeek omx_peek omx_iprobe omx_probe omx_cancel "
         "omx_cancel_notest omx_forget omx_ibuffered omx_context omx_set_request_timeout",
         "native interface: completion of requests", r"""
The timeout is the last argument.
With 0 the function polls once; with
.Dv OMX_TIMEOUT_INFINITE
it waits indefinitely.
""", NATIVE, (MX, OMX, "omx_isend.3", "mx_test.3", "mx_cancel.3")),
]
