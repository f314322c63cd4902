/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The MX programming interface, as provided by Open-MX (docs/spec/mx-api.md 1 to 6).
 *
 * Rules for all functions, unless one says otherwise:
 *  - Call mx_init() first. Only mx_set_error_handler, mx_strerror and mx_strstatus work before it.
 *  - Any thread may call any function at any time. mx_init and mx_finalize must not run beside other calls,
 *    and an endpoint must not be used after mx_close_endpoint.
 *  - An error is first given to the error handler (mx_set_error_handler). The function returns what the
 * handler returns. The initial handler prints the error and ends the process.
 *  - Timeouts are in milliseconds. 0 (MX_INFINITE) waits without limit. A function that runs out of time
 * returns MX_SUCCESS with *result = 0, except mx_connect.
 *  - *result becomes 1 (done) or 0. *status is written only when *result is 1. `status` may be NULL.
 *  - After fork() endpoints belong to the parent alone. In the child every function refuses them with
 *    MX_BAD_ENDPOINT and leaves the parent undisturbed. The child may call mx_finalize and mx_init to open
 *    endpoints of its own, or call exec.
 *  - A request that was completed, forgotten or cancelled, or that belongs to another endpoint, gives
 *    MX_BAD_REQUEST. This holds until its memory serves another request.
 *  - Lengths are in bytes. Memory behind pointers belongs to the caller.
 *  - Every function can return MX_NOT_INITIALIZED, MX_BAD_ENDPOINT (not an open endpoint), MX_BAD_BAD_BAD (an
 *    argument is NULL that must not be) and MX_NO_RESOURCES (out of memory). Comments do not repeat these.
 */
/* NOLINTBEGIN(bugprone-reserved-identifier): names with two underscores are given by the ABI. */
#ifndef MYRIEXPRESS_H
#define MYRIEXPRESS_H

#include <inttypes.h>
#include <stddef.h> /* programs take NULL from here */
#include <stdint.h>

/* Symbols stay visible whatever visibility the including file is compiled with. In C++ the enumerations get a
 * fixed type, so that every value that C can pass is a valid one. */
#ifdef __cplusplus
#define MX__BEGIN_DECLS extern "C" {
#define MX__END_DECLS }
#else
#define MX__BEGIN_DECLS
#define MX__END_DECLS
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#define MX__ENUM_INT : int
#else
#define MX__ENUM_INT
#endif

#pragma GCC visibility push(default)
MX__BEGIN_DECLS

/* ---- constants (docs/spec/mx-api.md 1) ---- */

#define MX_API 0x301 /* argument of mx__init_api; the high byte is the major version */
#define MX_MAX_STR_LEN 128
#define MX_MAX_HOSTNAME_LEN 80 /* including the final NUL */
#define MX_SIZEOF_ADDR 16
#define MX_ANY_NIC 0xffffffffU
#define MX_ANY_ENDPOINT 0xffffffffU
#define MX_INFINITE 0
#define MX_MAX_SEGMENTS 256
#define MX_MATCH_MASK_NONE (~(uint64_t)0) /* no bit is masked out */
#define MX_CONTEXT_ID_BITS_MAX 16
#define MX_HAS_NET_TYPE
/* Return the upper and the lower half of a 64-bit value, for printing. */
#define MX_U32(x) ((uint32_t)(sizeof(x) > 4 ? (uint64_t)(x) >> 32 : 0))
#define MX_L32(x) ((uint32_t)(x))

/* Return codes of functions (docs/spec/mx-api.md 1.1). mx_strerror returns a text for each. */
enum mx_return_code MX__ENUM_INT {
  MX_SUCCESS = 0,
  MX_BAD_BAD_BAD = 1,
  MX_FAILURE = 2,
  MX_ALREADY_INITIALIZED = 3,
  MX_NOT_INITIALIZED = 4,
  MX_NO_DEV = 5,
  MX_NO_DRIVER = 6,
  MX_NO_PERM = 7,
  MX_BOARD_UNKNOWN = 8,
  MX_BAD_ENDPOINT = 9,
  MX_BAD_SEG_LIST = 10,
  MX_BAD_SEG_MEM = 11,
  MX_BAD_SEG_CNT = 12,
  MX_BAD_REQUEST = 13,
  MX_BAD_MATCH_MASK = 14,
  MX_NO_RESOURCES = 15,
  MX_BAD_ADDR_LIST = 16,
  MX_BAD_ADDR_COUNT = 17,
  MX_BAD_ROOT = 18,
  MX_NOT_COMPLETED = 19,
  MX_BUSY = 20,
  MX_BAD_INFO_KEY = 21,
  MX_BAD_INFO_VAL = 22,
  MX_BAD_NIC = 23,
  MX_BAD_PARAM_LIST = 24,
  MX_BAD_PARAM_NAME = 25,
  MX_BAD_PARAM_VAL = 26,
  MX_BAD_HOSTNAME_ARGS = 27,
  MX_HOST_NOT_FOUND = 28,
  MX_REQUEST_PENDING = 29,
  MX_TIMEOUT = 30,
  MX_NO_MATCH = 31,
  MX_BAD_ENDPOINT_ID = 32,
  MX_CONNECTION_FAILED = 33,
  MX_BAD_CONNECTION_KEY = 34,
  MX_BAD_INFO_LENGTH = 35,
  MX_NIC_NOT_FOUND = 36,
  MX_BAD_KERNEL_VERSION = 37,
  MX_BAD_LIB_VERSION = 38,
  MX_NIC_DEAD = 39,
  MX_CANCEL_NOT_SUPPORTED = 40,
  MX_CLOSE_IN_HANDLER = 41,
  MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK = 42,
  MX_NOT_SUPPORTED_WITH_CONTEXT_ID = 43
};
typedef enum mx_return_code mx_return_t;

/* How a request ended (docs/spec/mx-api.md 1.2). mx_strstatus returns a text for each. */
enum mx_status_code MX__ENUM_INT {
  MX_STATUS_SUCCESS = 0,
  MX_STATUS_PENDING = 1,
  MX_STATUS_BUFFERED = 2,
  MX_STATUS_REJECTED = 3,
  MX_STATUS_TIMEOUT = 4,
  MX_STATUS_TRUNCATED = 5,
  MX_STATUS_CANCELLED = 6,
  MX_STATUS_ENDPOINT_UNKNOWN = 7,
  MX_STATUS_ENDPOINT_CLOSED = 8,
  MX_STATUS_ENDPOINT_UNREACHABLE = 9,
  MX_STATUS_BAD_SESSION = 10,
  MX_STATUS_BAD_KEY = 11,
  MX_STATUS_BAD_ENDPOINT = 12,
  MX_STATUS_BAD_RDMAWIN = 13,
  MX_STATUS_ABORTED = 14,
  MX_STATUS_EVENTQ_FULL = 15,
  MX_STATUS_NO_RESOURCES = 16
};
typedef enum mx_status_code mx_status_code_t;

/* Parameters of mx_open_endpoint. */
enum mx_param_key MX__ENUM_INT {
  MX_PARAM_ERROR_HANDLER = 0,   /* for this endpoint only */
  MX_PARAM_UNEXP_QUEUE_MAX = 1, /* accepted; memory of unexpected messages is bounded by the settings */
  MX_PARAM_CONTEXT_ID = 2       /* bits of the match information that separate independent users */
};
typedef enum mx_param_key mx_param_key_t;

/* Facts that mx_get_info returns (docs/spec/mx-api.md 6). In brackets: in_val, out_val. */
enum mx_get_info_key MX__ENUM_INT {
  MX_NIC_COUNT = 1,            /* [none, uint32_t] boards of this host */
  MX_NIC_IDS = 2,              /* [none, uint64_t[boards + 1]] their NIC ids, then 0 */
  MX_MAX_NATIVE_ENDPOINTS = 3, /* [none, uint32_t] endpoints per board */
  MX_NATIVE_REQUESTS = 4,      /* [none, uint32_t] requests per endpoint: 0xffffffff, no limit */
  MX_COUNTERS_COUNT = 5,       /* [none, uint32_t] */
  MX_COUNTERS_LABELS = 6,      /* [none, char[count][MX_MAX_STR_LEN]] */
  MX_COUNTERS_VALUES = 7,      /* [board if the endpoint is NULL, uint32_t[count]] of the endpoint, or of all
                                  endpoints that this process has on the board; low 32 bits */
  MX_PRODUCT_CODE = 8,         /* [board, string] "N/A (Open-MX)", cut to out_len */
  MX_PART_NUMBER = 9,          /* same */
  MX_SERIAL_NUMBER = 10,       /* same */
  MX_PORT_COUNT = 11,          /* [board, uint32_t] 1 */
  MX_PIO_SEND_MAX = 12,        /* [none, uint32_t] largest message sent in one small frame */
  MX_COPY_SEND_MAX = 13,       /* [none, uint32_t] largest message that is buffered */
  MX_NUMA_NODE = 14,           /* [board if the endpoint is NULL, uint32_t] 0xffffffff: unknown */
  MX_NET_TYPE = 15,            /* [none, uint32_t] enum mx_net_type */
  MX_LINE_SPEED = 16           /* [board, uint32_t] mx_line_speed_t */
};
typedef enum mx_get_info_key mx_get_info_key_t;

enum mx_line_speed MX__ENUM_INT { MX_SPEED_2G = 0, MX_SPEED_10G = 1, MX_SPEED_OPEN_MX = 2 };
typedef enum mx_line_speed mx_line_speed_t;

enum mx_net_type MX__ENUM_INT { MX_NET_MYRI = 0, MX_NET_ETHER = 1 };

/* ---- types (docs/spec/mx-api.md 2) ---- */

typedef struct mx_endpoint* mx_endpoint_t;
typedef union mx_request* mx_request_t; /* 0: none */

/* Address of an endpoint: opaque, passed by value, and valid until the endpoint that it came from is closed.
 * Two addresses of one remote endpoint may differ, so compare them by mx_decompose_endpoint_addr. */
typedef struct {
  uint64_t stuff[2];
} mx_endpoint_addr_t;

typedef void* mx_segment_ptr_t;
typedef struct {
  mx_segment_ptr_t segment_ptr;
  uint32_t segment_length;
} mx_segment_t;

struct mx_status {
  mx_status_code_t code;
  mx_endpoint_addr_t source; /* receive: the sender; send: the destination; connect: the peer */
  uint64_t match_info;       /* of the message, or as given to mx_iconnect */
  uint32_t msg_length;       /* as sent */
  uint32_t xfer_length;      /* as delivered */
  void* context;             /* the pointer given with the request */
};
typedef struct mx_status mx_status_t;

/* Handles an error. It gets a text of at most 255 characters and a code. The code that it returns replaces
 * the given one. Failed completions come here too when they are collected, but never those of forgotten
 * requests. Completions without a return code come as native numbers: see omx_return_t in open-mx.h
 * (docs/spec/mx-api.md 5). */
typedef mx_return_t (*mx_error_handler_t)(char* str, mx_return_t ret);

typedef struct {
  mx_param_key_t key;
  union {
    mx_error_handler_t error_handler;
    uint32_t unexp_queue_max;
    struct {
      uint8_t bits;  /* at most MX_CONTEXT_ID_BITS_MAX */
      uint8_t shift; /* bits + shift <= 64 */
    } context_id;
  } val;
} mx_param_t;

/* ---- library (docs/spec/mx-api.md 4.1) ---- */

/* Initialises the library: reads the settings and finds the boards. `api` is MX_API. Any 0x3xx is accepted.
 * MX_BAD_LIB_VERSION: another major version. MX_NO_DEV: no usable Ethernet interface. MX_FAILURE: malformed
 * setting. MX_ALREADY_INITIALIZED is returned without calling the handler, as it does no harm. */
mx_return_t mx__init_api(int api);
#define mx_init() mx__init_api(MX_API)

/* Closes all endpoints and releases everything. MX_NOT_INITIALIZED is returned without calling the handler.
 */
mx_return_t mx_finalize(void);

/* Sets the handler of the process and returns the previous one. Allowed before mx_init. NULL restores the
 * initial handler: MX_ERRORS_ARE_FATAL, or MX_ERRORS_RETURN with MX_ERRORS_ARE_FATAL=0 in the environment. */
mx_error_handler_t mx_set_error_handler(mx_error_handler_t handler);
/* Prints the text and ends the process by exit(). */
extern const mx_error_handler_t MX_ERRORS_ARE_FATAL;
/* Returns the code. */
extern const mx_error_handler_t MX_ERRORS_RETURN;

/* Return a static text for any value. */
const char* mx_strerror(mx_return_t code);
const char* mx_strstatus(mx_status_code_t code);

/* ---- boards and names (docs/spec/mx-api.md 4.2) ---- */

/* Convert the number of a board of this host to its NIC id (the MAC address as a 48-bit number), and back.
 * MX_BOARD_UNKNOWN: this host has no such board. */
mx_return_t mx_board_number_to_nic_id(uint32_t board_number, uint64_t* nic_id);
mx_return_t mx_nic_id_to_board_number(uint64_t nic_id, uint32_t* board_number);

/* Convert a name ("host:board", or "host" for board 0) to a NIC id, and back. `hostname` has room for
 * MX_MAX_HOSTNAME_LEN characters. It becomes empty for a peer without a name. The library asks the network
 * for a name that is not in its tables, which may take OMX_DISCOVERY_MS milliseconds. MX_HOST_NOT_FOUND: no
 * host has that name or id. MX_BAD_HOSTNAME_ARGS: an argument is NULL. */
mx_return_t mx_hostname_to_nic_id(char* hostname, uint64_t* nic_id);
mx_return_t mx_nic_id_to_hostname(uint64_t nic_id, char* hostname);

/* Stores the fact named by `key` (see mx_get_info_key) in out_val, which has room for out_len bytes. `ep` may
 * be NULL. A board is given as a number of any width, of which the first byte is read. MX_BAD_INFO_KEY:
 * unknown key. MX_BAD_INFO_VAL: in_val or out_val is missing. MX_BAD_INFO_LENGTH: out_len is too small.
 * MX_BOARD_UNKNOWN. */
mx_return_t mx_get_info(mx_endpoint_t ep, mx_get_info_key_t key, void* in_val, uint32_t in_len, void* out_val,
                        uint32_t out_len);

/* ---- endpoints (docs/spec/mx-api.md 4.3) ---- */

/* Opens an endpoint, which belongs to this process until mx_close_endpoint. MX_ANY_NIC and MX_ANY_ENDPOINT
 * take the first free board and id. Peers must present `endpoint_key` to connect. `params_array` may be NULL
 * when the count is 0. MX_BUSY: the id is in use. MX_BOARD_UNKNOWN: no such board. MX_BAD_ENDPOINT: the id is
 * too large. MX_NO_PERM: CAP_NET_RAW is missing. MX_BAD_PARAM_LIST, MX_BAD_PARAM_NAME, MX_BAD_PARAM_VAL: a
 * bad parameter. */
mx_return_t mx_open_endpoint(uint32_t board_number, uint32_t endpoint_id, uint32_t endpoint_key,
                             mx_param_t* params_array, uint32_t params_count, mx_endpoint_t* endpoint);

/* Closes the endpoint. Requests that are still pending vanish without completion. MX_CLOSE_IN_HANDLER: called
 * from the unexpected handler. */
mx_return_t mx_close_endpoint(mx_endpoint_t endpoint);

/* Stores the endpoint's own address, to which it may send without connecting. */
mx_return_t mx_get_endpoint_addr(mx_endpoint_t endpoint, mx_endpoint_addr_t* endpoint_addr);

/* Makes every thread that waits on the endpoint return with *result = 0, and mx_connect with MX_TIMEOUT. */
mx_return_t mx_wakeup(mx_endpoint_t endpoint);

/* ---- connection (docs/spec/mx-api.md 4.4) ---- */

/* Connects to an endpoint, waits for its answer, and stores its address in *addr. On timeout the attempt is
 * cancelled. MX_NIC_NOT_FOUND: nic_id is no NIC id. MX_BAD_ENDPOINT_ID: endpoint_id is too large.
 * MX_CONNECTION_FAILED: that endpoint is not open. MX_BAD_CONNECTION_KEY: the endpoint has another key.
 * MX_TIMEOUT: there was no answer, or mx_wakeup was called. */
mx_return_t mx_connect(mx_endpoint_t endpoint, uint64_t nic_id, uint32_t endpoint_id, uint32_t key,
                       uint32_t timeout, mx_endpoint_addr_t* addr);

/* Stores the NIC id and the endpoint id of an address. Works without an endpoint. Either result pointer may
 * be NULL. */
mx_return_t mx_decompose_endpoint_addr(mx_endpoint_addr_t endpoint_addr, uint64_t* nic_id,
                                       uint32_t* endpoint_id);

/* ---- communication (docs/spec/mx-api.md 4.5) ---- */

/* Send up to MX_MAX_SEGMENTS segments, together at most 4 GiB - 1, as one message. The list may be reused on
 * return. The data may be reused when the request is done, or earlier if mx_ibuffered says so. With `request`
 * NULL there is no completion. mx_issend is synchronous: it is done only when the receiver has matched the
 * message. MX_BAD_SEG_CNT: too many segments. MX_BAD_SEG_LIST: no list, or too long a message.
 * MX_BAD_SEG_MEM: a segment is NULL. */
mx_return_t mx_isend(mx_endpoint_t endpoint, mx_segment_t* segments_list, uint32_t segments_count,
                     mx_endpoint_addr_t dest_endpoint, uint64_t match_info, void* context,
                     mx_request_t* request);
mx_return_t mx_issend(mx_endpoint_t endpoint, mx_segment_t* segments_list, uint32_t segments_count,
                      mx_endpoint_addr_t dest_endpoint, uint64_t match_info, void* context,
                      mx_request_t* request);

/* Receives the first message with (its match info & match_mask) == match_info. A message that is longer than
 * the segments is truncated. The segments' memory belongs to the library until the request is done. Errors
 * are those of mx_isend, and MX_BAD_MATCH_MASK: match_info has bits outside the mask.
 * MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK: the mask covers only a part of the context id. */
mx_return_t mx_irecv(mx_endpoint_t endpoint, mx_segment_t* segments_list, uint32_t segments_count,
                     uint64_t match_info, uint64_t match_mask, void* context, mx_request_t* request);

/* Cancels an unmatched receive or an unanswered connect: frees it, sets *request = 0 and *result = 1. Another
 * receive or connect stays, with *result = 0. MX_BAD_REQUEST: a send, which cannot be cancelled. *result is
 * written in every case. */
mx_return_t mx_cancel(mx_endpoint_t endpoint, mx_request_t* request, uint32_t* result);

/* Test whether the request is done, without and with waiting. If it is done, it is freed, and *request
 * becomes 0. MX_BAD_REQUEST: *request is no request of this endpoint. */
mx_return_t mx_test(mx_endpoint_t endpoint, mx_request_t* request, mx_status_t* status, uint32_t* result);
mx_return_t mx_wait(mx_endpoint_t endpoint, mx_request_t* request, uint32_t timeout, mx_status_t* status,
                    uint32_t* result);

/* Do the same as mx_test and mx_wait for any request whose match info fits: a send, receive or connect with
 * (its match info & match_mask) == match_info. MX_BAD_MATCH_MASK: match_info has bits outside the mask. */
mx_return_t mx_test_any(mx_endpoint_t endpoint, uint64_t match_info, uint64_t match_mask, mx_status_t* status,
                        uint32_t* result);
mx_return_t mx_wait_any(mx_endpoint_t endpoint, uint32_t timeout, uint64_t match_info, uint64_t match_mask,
                        mx_status_t* status, uint32_t* result);

/* Store the request that was done first, without and with waiting. It is not consumed: pass it to mx_test. */
mx_return_t mx_ipeek(mx_endpoint_t endpoint, mx_request_t* request, uint32_t* result);
mx_return_t mx_peek(mx_endpoint_t endpoint, uint32_t timeout, mx_request_t* request, uint32_t* result);

/* Find the oldest matching message that arrived without a receive, without and with waiting. The message
 * stays queued. status->msg_length and status->xfer_length are both its length. MX_BAD_MATCH_MASK: match_info
 * has bits outside the mask. */
mx_return_t mx_iprobe(mx_endpoint_t endpoint, uint64_t match_info, uint64_t match_mask, mx_status_t* status,
                      uint32_t* result);
mx_return_t mx_probe(mx_endpoint_t endpoint, uint32_t timeout, uint64_t match_info, uint64_t match_mask,
                     mx_status_t* status, uint32_t* result);

/* Tests whether the memory of a send may already be reused. MX_BAD_REQUEST, returned without calling the
 * handler: the request is no send. */
mx_return_t mx_ibuffered(mx_endpoint_t endpoint, mx_request_t* request, uint32_t* result);

/* Stores the context pointer of a request that was not consumed yet. MX_BAD_REQUEST: *request is no such
 * request. */
mx_return_t mx_context(mx_request_t* request, void** context);

MX__END_DECLS
#pragma GCC visibility pop

/* Some programs use extensions without including their header. */
#include "mx_extensions.h" /* IWYU pragma: keep */

#endif /* MYRIEXPRESS_H */
/* NOLINTEND(bugprone-reserved-identifier) */
