// SPDX-License-Identifier: BSD-3-Clause
// What xdp_receive.bpf.c and those who load it agree on. C, and C++.
//
// The offsets are those of docs/reference/wire.md; tests/link/xdp_program_test.cc compares what the program
// does with what the decoder finds, for every packet type there can be.
#pragma once

#include <linux/types.h>

#define OMX_XDP_PROGRAM_NAME "omx_xdp"
#define OMX_XDP_SOCKETS_NAME "omx_xdp_sockets"
#define OMX_XDP_RULES_NAME "omx_xdp_rules"

enum {
  OMX_XDP_ENDPOINTS = 256,
  OMX_XDP_QUEUES = 64,  // those of higher numbers are left to packet sockets

  OMX_XDP_ETHERTYPE_AT = 12,
  OMX_XDP_TYPE_AT = 16,
  OMX_XDP_ENDPOINT_AT = 17,
  OMX_XDP_NACK_LIB_ENDPOINT_AT = 25,
  OMX_XDP_MAGIC_LOW_AT = 31,  // PULL_REPLY and NACK_MCP: low byte of the magic, XOR the endpoint
  OMX_XDP_MAGIC_LOW = 0x80,
  OMX_XDP_BYTES = 32,  // what has to be there; real frames have 60 at least

  OMX_XDP_ETHERTYPE = 0x86DF,
};

// Packet types that name their endpoint elsewhere than OMX_XDP_ENDPOINT_AT, and the borders of those that do.
enum {
  OMX_XDP_TYPE_FIRST = 35,
  OMX_XDP_TYPE_PULL_REPLY = 42,
  OMX_XDP_TYPE_NOTIFY = 43,
  OMX_XDP_TYPE_NACK_LIB = 44,
  OMX_XDP_TYPE_NACK_MCP = 45,
  OMX_XDP_TYPE_PROBE = 64,
  OMX_XDP_TYPE_PACK = 65,
};

// Which frames the socket of an endpoint takes.
struct omx_xdp_rule {
  __u32 largest;  // frame
  __u8 nic[6];    // to whom, if not to a group
  __u8 pad[2];
};
