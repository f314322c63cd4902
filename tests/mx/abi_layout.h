/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes, offsets and values of the public headers, as programs compiled against other MX headers have them
 * (docs/spec/mx-api.md 1, 2). The file is compiled as C11 and as C++, and passing is compiling. */
#include <stddef.h>

#include "mx_extensions.h"
#include "mx_internals/mx__driver_interface.h"
#include "mx_internals/mx__fops.h"
#include "mx_io.h"
#include "mx_raw.h"
#include "myriexpress.h"
#include "open-mx.h"

#ifdef __cplusplus
#define CHECK(condition) static_assert(condition, #condition)
#else
#define CHECK(condition) _Static_assert(condition, #condition)
#endif

/* x86-64 and i386 differ in pointers and in the alignment of 64-bit numbers. */
#if defined(__LP64__)
#define LAYOUT(on64, on32) (on64)
#else
#define LAYOUT(on64, on32) (on32)
#endif

/* docs/spec/mx-api.md 1 */
CHECK(MX_API == 0x301);
CHECK(MX_MAX_STR_LEN == 128);
CHECK(MX_MAX_HOSTNAME_LEN == 80);
CHECK(MX_SIZEOF_ADDR == 16);
CHECK(MX_ANY_NIC == 0xffffffffU && MX_ANY_ENDPOINT == 0xffffffffU);
CHECK(MX_INFINITE == 0);
CHECK(MX_MAX_SEGMENTS == 256);
CHECK(MX_MATCH_MASK_NONE == 0xffffffffffffffffULL && sizeof(MX_MATCH_MASK_NONE) == 8);
CHECK(MX_CONTEXT_ID_BITS_MAX == 16);
CHECK(MX_HAS_ICONNECT_V2 == 1);
#ifndef MX_HAS_NET_TYPE
#error "MX_HAS_NET_TYPE is not defined"
#endif
CHECK(MX__INVALID_HANDLE == -1);
CHECK(MX_RAW_POLL_SUPPORTED == 1 && MX_SET_ROUTE_TAKES_MAGID == 1);
CHECK(MX_HAS_RAW_LINE_SPEED == 1 && MX_HAS_RAW_SET_NIC_REPLY_INFO == 1);
CHECK(MX_U32(0x123456789abcdef0ULL) == 0x12345678 && MX_L32(0x123456789abcdef0ULL) == 0x9abcdef0);
CHECK(MX_U32((uint32_t)0xffffffff) == 0);

/* docs/spec/mx-api.md 1.1 */
CHECK(MX_SUCCESS == 0 && MX_BAD_BAD_BAD == 1 && MX_FAILURE == 2 && MX_ALREADY_INITIALIZED == 3);
CHECK(MX_NOT_INITIALIZED == 4 && MX_NO_DEV == 5 && MX_NO_DRIVER == 6 && MX_NO_PERM == 7);
CHECK(MX_BOARD_UNKNOWN == 8 && MX_BAD_ENDPOINT == 9 && MX_BAD_SEG_LIST == 10 && MX_BAD_SEG_MEM == 11);
CHECK(MX_BAD_SEG_CNT == 12 && MX_BAD_REQUEST == 13 && MX_BAD_MATCH_MASK == 14 && MX_NO_RESOURCES == 15);
CHECK(MX_BAD_ADDR_LIST == 16 && MX_BAD_ADDR_COUNT == 17 && MX_BAD_ROOT == 18 && MX_NOT_COMPLETED == 19);
CHECK(MX_BUSY == 20 && MX_BAD_INFO_KEY == 21 && MX_BAD_INFO_VAL == 22 && MX_BAD_NIC == 23);
CHECK(MX_BAD_PARAM_LIST == 24 && MX_BAD_PARAM_NAME == 25 && MX_BAD_PARAM_VAL == 26);
CHECK(MX_BAD_HOSTNAME_ARGS == 27 && MX_HOST_NOT_FOUND == 28 && MX_REQUEST_PENDING == 29 && MX_TIMEOUT == 30);
CHECK(MX_NO_MATCH == 31 && MX_BAD_ENDPOINT_ID == 32 && MX_CONNECTION_FAILED == 33);
CHECK(MX_BAD_CONNECTION_KEY == 34 && MX_BAD_INFO_LENGTH == 35 && MX_NIC_NOT_FOUND == 36);
CHECK(MX_BAD_KERNEL_VERSION == 37 && MX_BAD_LIB_VERSION == 38 && MX_NIC_DEAD == 39);
CHECK(MX_CANCEL_NOT_SUPPORTED == 40 && MX_CLOSE_IN_HANDLER == 41);
CHECK(MX_BAD_MATCHING_FOR_CONTEXT_ID_MASK == 42 && MX_NOT_SUPPORTED_WITH_CONTEXT_ID == 43);

/* docs/spec/mx-api.md 1.2 */
CHECK(MX_STATUS_SUCCESS == 0 && MX_STATUS_PENDING == 1 && MX_STATUS_BUFFERED == 2 && MX_STATUS_REJECTED == 3);
CHECK(MX_STATUS_TIMEOUT == 4 && MX_STATUS_TRUNCATED == 5 && MX_STATUS_CANCELLED == 6);
CHECK(MX_STATUS_ENDPOINT_UNKNOWN == 7 && MX_STATUS_ENDPOINT_CLOSED == 8);
CHECK(MX_STATUS_ENDPOINT_UNREACHABLE == 9 && MX_STATUS_BAD_SESSION == 10 && MX_STATUS_BAD_KEY == 11);
CHECK(MX_STATUS_BAD_ENDPOINT == 12 && MX_STATUS_BAD_RDMAWIN == 13 && MX_STATUS_ABORTED == 14);
CHECK(MX_STATUS_EVENTQ_FULL == 15 && MX_STATUS_NO_RESOURCES == 16);

/* docs/spec/mx-api.md 1.3 */
CHECK(MX_PARAM_ERROR_HANDLER == 0 && MX_PARAM_UNEXP_QUEUE_MAX == 1 && MX_PARAM_CONTEXT_ID == 2);
CHECK(MX_NIC_COUNT == 1 && MX_NIC_IDS == 2 && MX_MAX_NATIVE_ENDPOINTS == 3 && MX_NATIVE_REQUESTS == 4);
CHECK(MX_COUNTERS_COUNT == 5 && MX_COUNTERS_LABELS == 6 && MX_COUNTERS_VALUES == 7 && MX_PRODUCT_CODE == 8);
CHECK(MX_PART_NUMBER == 9 && MX_SERIAL_NUMBER == 10 && MX_PORT_COUNT == 11 && MX_PIO_SEND_MAX == 12);
CHECK(MX_COPY_SEND_MAX == 13 && MX_NUMA_NODE == 14 && MX_NET_TYPE == 15 && MX_LINE_SPEED == 16);
CHECK(MX_SPEED_2G == 0 && MX_SPEED_10G == 1 && MX_SPEED_OPEN_MX == 2);
CHECK(MX_NET_MYRI == 0 && MX_NET_ETHER == 1);
CHECK(MX_RECV_CONTINUE == 0 && MX_RECV_FINISHED == 1);
CHECK(MX_HOST_GM == 1 && MX_HOST_XM == 2 && MX_HOST_MX == 3 && MX_HOST_MXvM == 4);
CHECK(MX_RAW_NO_EVENT == 0 && MX_RAW_SEND_COMPLETE == 1 && MX_RAW_RECV_COMPLETE == 2);
CHECK(MX_DEAD_RECOVERABLE_SRAM_PARITY_ERROR == 10 && MX_DEAD_PCI_MASTER_ABORT == 17);
CHECK(sizeof(mx_return_t) == 4 && sizeof(mx_status_code_t) == 4 && sizeof(mx_param_key_t) == 4);
CHECK(sizeof(mx_get_info_key_t) == 4 && sizeof(mx_line_speed_t) == 4 && sizeof(enum mx_net_type) == 4);
CHECK(sizeof(mx_unexp_handler_action_t) == 4 && sizeof(mx_host_type_t) == 4);

/* docs/spec/mx-api.md 2 */
CHECK(sizeof(mx_endpoint_t) == sizeof(void*) && sizeof(mx_request_t) == sizeof(void*));
CHECK(sizeof(mx_raw_endpoint_t) == sizeof(void*) && sizeof(mx_segment_ptr_t) == sizeof(void*));
CHECK(sizeof(mx_endpt_handle_t) == 4 && sizeof(mx_raw_status_t) == 4);
CHECK(sizeof(mx_endpoint_addr_t) == 16);
CHECK(sizeof(mx_segment_t) == LAYOUT(16, 8));
CHECK(offsetof(mx_segment_t, segment_ptr) == 0);
CHECK(offsetof(mx_segment_t, segment_length) == LAYOUT(8, 4));
CHECK(sizeof(mx_status_t) == LAYOUT(48, 40) && sizeof(struct mx_status) == sizeof(mx_status_t));
CHECK(offsetof(mx_status_t, code) == 0);
CHECK(offsetof(mx_status_t, source) == LAYOUT(8, 4));
CHECK(offsetof(mx_status_t, match_info) == LAYOUT(24, 20));
CHECK(offsetof(mx_status_t, msg_length) == LAYOUT(32, 28));
CHECK(offsetof(mx_status_t, xfer_length) == LAYOUT(36, 32));
CHECK(offsetof(mx_status_t, context) == LAYOUT(40, 36));
CHECK(sizeof(mx_param_t) == LAYOUT(16, 8));
CHECK(offsetof(mx_param_t, key) == 0);
CHECK(offsetof(mx_param_t, val) == LAYOUT(8, 4));
CHECK(offsetof(mx_param_t, val.context_id.bits) == LAYOUT(8, 4));
CHECK(offsetof(mx_param_t, val.context_id.shift) == LAYOUT(9, 5));
CHECK(sizeof(mx_mapper_state_t) == 36);
CHECK(offsetof(mx_mapper_state_t, board_number) == 0 && offsetof(mx_mapper_state_t, mapper_mac) == 4);
CHECK(offsetof(mx_mapper_state_t, iport) == 10 && offsetof(mx_mapper_state_t, map_version) == 12);
CHECK(offsetof(mx_mapper_state_t, num_hosts) == 16);
CHECK(offsetof(mx_mapper_state_t, network_configured) == 20);
CHECK(offsetof(mx_mapper_state_t, routes_valid) == 24);
CHECK(offsetof(mx_mapper_state_t, level) == 28 && offsetof(mx_mapper_state_t, flags) == 32);

/* docs/spec/mx-api.md 9: the native types have the layouts of the MX ones, and the codes their numbers. */
CHECK(OMX_API == 0x301 && OMX_TIMEOUT_INFINITE == 0xffffffffU);
CHECK(OMX_HOSTNAMELEN_MAX == 80 && OMX_BOARD_ADDR_STRLEN == 18);
CHECK(sizeof(omx_endpoint_addr_t) == 16 && sizeof(omx_seg_t) == sizeof(mx_segment_t));
CHECK(offsetof(omx_seg_t, len) == offsetof(mx_segment_t, segment_length));
CHECK(sizeof(omx_status_t) == sizeof(mx_status_t) &&
      offsetof(omx_status_t, addr) == offsetof(mx_status_t, source));
CHECK(offsetof(omx_status_t, context) == offsetof(mx_status_t, context));
CHECK(sizeof(omx_endpoint_param_t) == sizeof(mx_param_t));
CHECK((int)OMX_BUSY == (int)MX_BUSY && (int)OMX_TIMEOUT == (int)MX_TIMEOUT);
CHECK((int)OMX_NOT_SUPPORTED_IN_HANDLER == 96 && (int)OMX_BAD_MATCHING_FOR_CONTEXT_ID_MASK == 42);
CHECK(OMX_CANCELLED == 90 && OMX_REMOTE_RDMA_WINDOW_BAD_ID == 91 && OMX_REMOTE_ENDPOINT_UNREACHABLE == 92);
CHECK(OMX_REMOTE_ENDPOINT_BAD_SESSION == 93 && OMX_MESSAGE_ABORTED == 94 && OMX_MESSAGE_TRUNCATED == 95);
CHECK(OMX_NO_SYSTEM_RESOURCES == 97 && OMX_NOT_IMPLEMENTED == 99);
CHECK(OMX_INFO_BOARD_MAX == 0 && OMX_INFO_COUNTER_LABEL == 9);
CHECK(OMX_UNEXP_HANDLER_RECV_CONTINUE == 0 && OMX_UNEXP_HANDLER_RECV_FINISHED == 1);
