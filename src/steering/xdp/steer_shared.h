// SPDX-License-Identifier: BSD-3-Clause
// Constants and layouts shared by steer.bpf.c and the program that loads it, in C and C++.
//
// The offsets are those of docs/reference/wire.md, from byte 0 of an untagged frame. tests/steering/xdp
// compares them with the decoder for every possible packet type.
#pragma once

#include <linux/types.h>

#define STEER_PROGRAM_NAME "omx_steer"
#define STEER_CPUS_NAME "omx_cpus"
#define STEER_TARGETS_NAME "omx_targets"
#define STEER_COUNTS_NAME "omx_counts"

enum {
  STEER_ENDPOINTS = 256,

  STEER_ETHERTYPE_AT = 12,
  STEER_TAG_BYTES = 4,  // an 802.1Q tag stands before the Ethernet type and moves all that follows
  STEER_TYPE_AT = 16,
  STEER_ENDPOINT_AT = 17,
  STEER_NACK_LIB_ENDPOINT_AT = 25,
  STEER_MAGIC_LOW_AT = 31,  // PULL_REPLY and NACK_MCP: low byte of the magic, XOR the endpoint
  STEER_MAGIC_LOW = 0x80,
  STEER_BYTES = 32,  // bytes that a frame must have; real frames have at least 60

  STEER_ETHERTYPE = 0x86DF,
  STEER_ETHERTYPE_TAG = 0x8100,
  STEER_ETHERTYPE_SERVICE_TAG = 0x88A8,
};

// Packet types whose endpoint is not at STEER_ENDPOINT_AT, and the limits of those whose endpoint is.
enum {
  STEER_TYPE_FIRST = 35,
  STEER_TYPE_PULL_REPLY = 42,
  STEER_TYPE_NOTIFY = 43,
  STEER_TYPE_NACK_LIB = 44,
  STEER_TYPE_NACK_MCP = 45,
  STEER_TYPE_PROBE = 64,
  STEER_TYPE_PACK = 65,
};

// Frames of an endpoint that arrived on one processor.
struct steer_counts {
  __u64 stayed;  // arrived on the endpoint's processor
  __u64 moved;   // handed to the endpoint's processor
};
