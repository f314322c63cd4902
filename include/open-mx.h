/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The native interface of Open-MX (docs/spec/mx-api.md 9). It is the MX interface with contiguous buffers
 * beside segment lists, one code space for returns and completions, an infinite timeout that is not 0, and
 * more facts about boards.
 *
 * Unless a comment says otherwise, omx_x behaves like mx_x of myriexpress.h or mx_extensions.h, and the rules
 * at the top of myriexpress.h hold. Codes have the prefix OMX_ instead of MX_. Timeouts are in milliseconds
 * and come last. Timeout 0 does not wait, and OMX_TIMEOUT_INFINITE waits without limit. Both interfaces may
 * be used in one process, on the same endpoints.
 */
/* NOLINTBEGIN(bugprone-reserved-identifier): names with two underscores are given by the ABI. */
#ifndef OPEN_MX_H
#define OPEN_MX_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#define OMX__ENUM_INT : int
#else
#define OMX__ENUM_INT
#endif

#define OMX_API 0x301
#define OMX_HOSTNAMELEN_MAX 80 /* including the final NUL */
#define OMX_BOARD_ADDR_STRLEN 18
#define OMX_COUNTER_LABEL_LEN 128
#define OMX_ANY_NIC 0xffffffffU
#define OMX_ANY_ENDPOINT 0xffffffffU
#define OMX_TIMEOUT_INFINITE 0xffffffffU
#define OMX_MAX_SEGMENTS 256

/* Codes of returns and completions. Up to 43 they have the values and meanings of mx_return_t. The others
 * exist as completions only (docs/spec/mx-api.md 7), and the error handler sees them. */
enum omx_return_code OMX__ENUM_INT {
  OMX_SUCCESS = 0,
  OMX_BAD_BAD_BAD = 1,
  OMX_FAILURE = 2,
  OMX_ALREADY_INITIALIZED = 3,
  OMX_NOT_INITIALIZED = 4,
  OMX_NO_DEV = 5,
  OMX_NO_DRIVER = 6,
  OMX_NO_PERM = 7,
  OMX_BOARD_UNKNOWN = 8,
  OMX_BAD_ENDPOINT = 9,
  OMX_BAD_SEG_LIST = 10,
  OMX_BAD_SEG_MEM = 11,
  OMX_BAD_SEG_CNT = 12,
  OMX_BAD_REQUEST = 13,
  OMX_BAD_MATCH_MASK = 14,
  OMX_NO_RESOURCES = 15,
  OMX_BAD_ADDR_LIST = 16,
  OMX_BAD_ADDR_COUNT = 17,
  OMX_BAD_ROOT = 18,
  OMX_NOT_COMPLETED = 19,
  OMX_BUSY = 20,
  OMX_BAD_INFO_KEY = 21,
  OMX_BAD_INFO_VAL = 22,
  OMX_BAD_NIC = 23,
  OMX_BAD_PARAM_LIST = 24,
  OMX_BAD_PARAM_NAME = 25,
  OMX_BAD_PARAM_VAL = 26,
  OMX_BAD_HOSTNAME_ARGS = 27,
  OMX_HOST_NOT_FOUND = 28,
  OMX_REQUEST_PENDING = 29,
  OMX_TIMEOUT = 30,
  OMX_NO_MATCH = 31,
  OMX_REMOTE_ENDPOINT_BAD_ID = 32,
  OMX_REMOTE_ENDPOINT_CLOSED = 33,
  OMX_REMOTE_ENDPOINT_BAD_KEY = 34,
  OMX_BAD_INFO_LENGTH = 35,
  OMX_NIC_NOT_FOUND = 36,
  OMX_BAD_KERNEL_VERSION = 37,
  OMX_BAD_LIB_VERSION = 38,
  OMX_NIC_DEAD = 39,
  OMX_CANCEL_NOT_SUPPORTED = 40,
  OMX_CLOSE_IN_HANDLER = 41,
  OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK = 42,
  OMX_NOT_SUPPORTED_WITH_CONTEXT_ID = 43,
  OMX_CANCELLED = 90,
  OMX_REMOTE_RDMA_WINDOW_BAD_ID = 91,
  OMX_REMOTE_ENDPOINT_UNREACHABLE = 92,
  OMX_REMOTE_ENDPOINT_BAD_SESSION = 93,
  OMX_MESSAGE_ABORTED = 94,
  OMX_MESSAGE_TRUNCATED = 95,
  OMX_NOT_SUPPORTED_IN_HANDLER = 96,
  OMX_NO_SYSTEM_RESOURCES = 97,
  OMX_NOT_IMPLEMENTED = 99,
  OMX_RETURN_CODE_MAX = 100, /* all codes are smaller */

  /* Names of Open-MX 1.x for codes that have another name in MX. */
  OMX_BAD_ERROR = OMX_BAD_BAD_BAD,
  OMX_NO_DEVICE = OMX_NO_DEV,
  OMX_ACCESS_DENIED = OMX_NO_PERM,
  OMX_BOARD_NOT_FOUND = OMX_BOARD_UNKNOWN,
  OMX_SEGMENTS_BAD_LIST = OMX_BAD_SEG_LIST,
  OMX_SEGMENTS_BAD_MEMORY = OMX_BAD_SEG_MEM,
  OMX_SEGMENTS_BAD_COUNT = OMX_BAD_SEG_CNT,
  OMX_BAD_INFO_ADDRESS = OMX_BAD_INFO_VAL,
  OMX_ENDPOINT_PARAMS_BAD_LIST = OMX_BAD_PARAM_LIST,
  OMX_ENDPOINT_PARAM_BAD_KEY = OMX_BAD_PARAM_NAME,
  OMX_ENDPOINT_PARAM_BAD_VALUE = OMX_BAD_PARAM_VAL,
  OMX_REMOTE_ENDPOINT_BAD_CONNECTION_KEY = OMX_REMOTE_ENDPOINT_BAD_KEY,
  OMX_PEER_NOT_FOUND = OMX_NIC_NOT_FOUND,
  OMX_BAD_KERNEL_ABI = OMX_BAD_KERNEL_VERSION,
  OMX_BAD_LIB_ABI = OMX_BAD_LIB_VERSION
};
typedef enum omx_return_code omx_return_t;

typedef struct omx_endpoint* omx_endpoint_t;
typedef union omx_request* omx_request_t; /* 0: none */

typedef struct {
  uint64_t stuff[2];
} omx_endpoint_addr_t;

typedef struct {
  void* ptr;
  uint32_t len;
} omx_seg_t;

/* How a request ended. The layout is that of mx_status_t, where the fields are described. */
struct omx_status {
  omx_return_t code;
  omx_endpoint_addr_t addr;
  uint64_t match_info;
  uint32_t msg_length;
  uint32_t xfer_length;
  void* context;
};
typedef struct omx_status omx_status_t;

/* Handles an error. It gets a text of at most 255 characters and a code. The code that it returns replaces
 * the given one. */
typedef omx_return_t (*omx_error_handler_t)(char* str, omx_return_t ret);

enum omx_endpoint_param_key OMX__ENUM_INT {
  OMX_ENDPOINT_PARAM_ERROR_HANDLER = 0,
  OMX_ENDPOINT_PARAM_UNEXP_QUEUE_MAX = 1,
  OMX_ENDPOINT_PARAM_CONTEXT_ID = 2
};

typedef struct {
  enum omx_endpoint_param_key key;
  union {
    omx_error_handler_t error_handler;
    uint32_t unexp_queue_max;
    struct {
      uint8_t bits;
      uint8_t shift;
    } context_id;
  } val;
} omx_endpoint_param_t;

/* Facts that omx_get_info returns. In brackets: in_val, out_val. `board` is a uint8_t, which is not needed
 * when an endpoint is given. */
enum omx_info_key OMX__ENUM_INT {
  OMX_INFO_BOARD_MAX = 0,       /* [none, uint32_t] the most boards that can be used: no limit */
  OMX_INFO_ENDPOINT_MAX = 1,    /* [none, uint32_t] endpoints per board */
  OMX_INFO_BOARD_COUNT = 2,     /* [none, uint32_t] */
  OMX_INFO_BOARD_IDS = 3,       /* [none, uint64_t[count + 1]] NIC ids, then 0 */
  OMX_INFO_BOARD_HOSTNAME = 4,  /* [board, string] */
  OMX_INFO_BOARD_IFACENAME = 5, /* [board, string] */
  OMX_INFO_BOARD_NUMA_NODE = 6, /* [board, uint32_t] 0xffffffff: unknown */
  OMX_INFO_COUNTER_MAX = 7,     /* [none, uint32_t] number of counters */
  OMX_INFO_COUNTER_VALUES = 8,  /* [board, uint32_t[count]] */
  OMX_INFO_COUNTER_LABEL = 9    /* [uint8_t counter, string] */
};
typedef enum omx_info_key omx_info_key_t;

enum omx_unexp_handler_action OMX__ENUM_INT {
  OMX_UNEXP_HANDLER_RECV_CONTINUE = 0,
  OMX_UNEXP_HANDLER_RECV_FINISHED = 1
};
typedef enum omx_unexp_handler_action omx_unexp_handler_action_t;
typedef omx_unexp_handler_action_t (*omx_unexp_handler_t)(void* context, omx_endpoint_addr_t source,
                                                          uint64_t match_info, uint32_t msg_length,
                                                          void* data_if_available);

/* ---- library ---- */

/* Initialises the library, as mx__init_api does. Programs call omx_init. */
omx_return_t omx__init_api(int api);
static inline omx_return_t omx_init(void) {
  return omx__init_api(OMX_API);
}

omx_return_t omx_finalize(void);

/* Returns a static text for any code, also of completions. */
const char* omx_strerror(omx_return_t code);

/* Sets the handler of an endpoint, or of the process when `ep` is NULL, and returns the previous one. It
 * returns NULL if the endpoint had no handler of its own. With `handler` NULL an endpoint uses the handler of
 * the process, and the process its initial one. */
omx_error_handler_t omx_set_error_handler(omx_endpoint_t ep, omx_error_handler_t handler);
extern const omx_error_handler_t OMX_ERRORS_ARE_FATAL;
extern const omx_error_handler_t OMX_ERRORS_RETURN;

omx_return_t omx_board_number_to_nic_id(uint32_t board_number, uint64_t* nic_id);
omx_return_t omx_nic_id_to_board_number(uint64_t nic_id, uint32_t* board_number);
omx_return_t omx_hostname_to_nic_id(char* hostname, uint64_t* nic_id);
omx_return_t omx_nic_id_to_hostname(uint64_t nic_id, char* hostname);
omx_return_t omx_get_info(omx_endpoint_t ep, omx_info_key_t key, const void* in_val, uint32_t in_len,
                          void* out_val, uint32_t out_len);

/* ---- endpoints ---- */

omx_return_t omx_open_endpoint(uint32_t board_number, uint32_t endpoint_id, uint32_t key,
                               omx_endpoint_param_t* params, uint32_t params_count, omx_endpoint_t* ep);
omx_return_t omx_close_endpoint(omx_endpoint_t ep);
omx_return_t omx_get_endpoint_addr(omx_endpoint_t ep, omx_endpoint_addr_t* addr);
omx_return_t omx_wakeup(omx_endpoint_t ep);
omx_return_t omx_progress(omx_endpoint_t ep);
omx_return_t omx_disable_progression(omx_endpoint_t ep);
omx_return_t omx_reenable_progression(omx_endpoint_t ep);
omx_return_t omx_register_unexp_handler(omx_endpoint_t ep, omx_unexp_handler_t handler, void* context);

/* ---- connection ---- */

omx_return_t omx_connect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint_id, uint32_t key,
                         uint32_t timeout, omx_endpoint_addr_t* addr);
omx_return_t omx_iconnect(omx_endpoint_t ep, uint64_t nic_id, uint32_t endpoint_id, uint32_t key,
                          uint64_t match_info, void* context, omx_request_t* request);
omx_return_t omx_disconnect(omx_endpoint_t ep, omx_endpoint_addr_t addr);
omx_return_t omx_decompose_endpoint_addr(omx_endpoint_addr_t addr, uint64_t* nic_id, uint32_t* endpoint_id);

/* Does what mx_decompose_endpoint_addr2 does. */
omx_return_t omx_decompose_endpoint_addr_with_session(omx_endpoint_addr_t addr, uint64_t* nic_id,
                                                      uint32_t* endpoint_id, uint32_t* session_id);

omx_return_t omx_set_endpoint_addr_context(omx_endpoint_addr_t addr, void* context);
omx_return_t omx_get_endpoint_addr_context(omx_endpoint_addr_t addr, void** context);

/* ---- communication ---- */

/* Send from, or receive into, one buffer. OMX_BAD_SEG_LIST: `length` is above 4 GiB - 1. */
omx_return_t omx_isend(omx_endpoint_t ep, void* buffer, size_t length, omx_endpoint_addr_t dest,
                       uint64_t match_info, void* context, omx_request_t* request);
omx_return_t omx_issend(omx_endpoint_t ep, void* buffer, size_t length, omx_endpoint_addr_t dest,
                        uint64_t match_info, void* context, omx_request_t* request);
omx_return_t omx_irecv(omx_endpoint_t ep, void* buffer, size_t length, uint64_t match_info,
                       uint64_t match_mask, void* context, omx_request_t* request);
/* Send from, or receive into, a list of segments, as mx_isend, mx_issend and mx_irecv do. */
omx_return_t omx_isendv(omx_endpoint_t ep, omx_seg_t* segs, uint32_t nseg, omx_endpoint_addr_t dest,
                        uint64_t match_info, void* context, omx_request_t* request);
omx_return_t omx_issendv(omx_endpoint_t ep, omx_seg_t* segs, uint32_t nseg, omx_endpoint_addr_t dest,
                         uint64_t match_info, void* context, omx_request_t* request);
omx_return_t omx_irecvv(omx_endpoint_t ep, omx_seg_t* segs, uint32_t nseg, uint64_t match_info,
                        uint64_t match_mask, void* context, omx_request_t* request);

omx_return_t omx_cancel(omx_endpoint_t ep, omx_request_t* request, uint32_t* result);

/* Cancels as omx_cancel does, but the request completes with OMX_CANCELLED and must be tested. */
omx_return_t omx_cancel_notest(omx_endpoint_t ep, omx_request_t* request, uint32_t* result);

omx_return_t omx_forget(omx_endpoint_t ep, omx_request_t* request);
omx_return_t omx_test(omx_endpoint_t ep, omx_request_t* request, omx_status_t* status, uint32_t* result);
omx_return_t omx_wait(omx_endpoint_t ep, omx_request_t* request, omx_status_t* status, uint32_t* result,
                      uint32_t timeout);
omx_return_t omx_test_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                          uint32_t* result);
omx_return_t omx_wait_any(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                          uint32_t* result, uint32_t timeout);
omx_return_t omx_ipeek(omx_endpoint_t ep, omx_request_t* request, uint32_t* result);
omx_return_t omx_peek(omx_endpoint_t ep, omx_request_t* request, uint32_t* result, uint32_t timeout);
omx_return_t omx_iprobe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                        uint32_t* result);
omx_return_t omx_probe(omx_endpoint_t ep, uint64_t match_info, uint64_t match_mask, omx_status_t* status,
                       uint32_t* result, uint32_t timeout);
omx_return_t omx_ibuffered(omx_endpoint_t ep, omx_request_t* request, uint32_t* result);
omx_return_t omx_context(omx_request_t* request, void** context);

/* Sets the limit as mx_set_request_timeout does. OMX_TIMEOUT_INFINITE and 0 mean no limit. */
omx_return_t omx_set_request_timeout(omx_endpoint_t ep, omx_request_t request, uint32_t ms);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* OPEN_MX_H */
/* NOLINTEND(bugprone-reserved-identifier) */
