// SPDX-License-Identifier: BSD-3-Clause
// Definitions that xdp_receive.bpf.c and its loader share, in both C and C++.
//
// The offsets are those of docs/reference/wire.md. tests/link/xdp/xdp_link_test.cc compares the program with
// the decoder for every possible packet type.
#pragma once

#include <linux/types.h>

#define OMX_XDP_PROGRAM_NAME "omx_xdp"
#define OMX_XDP_SOCKETS_NAME "omx_xdp_sockets"
#define OMX_XDP_RULES_NAME "omx_xdp_rules"

enum {
  OMX_XDP_ENDPOINTS = 256,
  OMX_XDP_QUEUES = 64,  // queues of higher numbers are left to packet sockets

  OMX_XDP_ETHERTYPE_AT = 12,
  OMX_XDP_TYPE_AT = 16,
  OMX_XDP_ENDPOINT_AT = 17,
  OMX_XDP_NACK_LIB_ENDPOINT_AT = 25,
  OMX_XDP_MAGIC_LOW_AT = 31,  // PULL_REPLY and NACK_MCP: low byte of the magic, XOR the endpoint
  OMX_XDP_MAGIC_LOW = 0x80,
  OMX_XDP_BYTES = 32,  // bytes that must be there; real frames have at least 60

  OMX_XDP_ETHERTYPE = 0x86DF,
};

// Packet types whose endpoint is not at OMX_XDP_ENDPOINT_AT, and the limits of those whose endpoint is.
enum {
  OMX_XDP_TYPE_FIRST = 35,
  OMX_XDP_TYPE_PULL_REPLY = 42,
  OMX_XDP_TYPE_NOTIFY = 43,
  OMX_XDP_TYPE_NACK_LIB = 44,
  OMX_XDP_TYPE_NACK_MCP = 45,
  OMX_XDP_TYPE_PROBE = 64,
  OMX_XDP_TYPE_PACK = 65,
};

// The rule that says which frames the socket of an endpoint takes.
struct omx_xdp_rule {
  __u32 largest;  // bytes of the largest frame
  __u8 nic[6];    // destination address, if not a group
  __u8 pad[2];
};
