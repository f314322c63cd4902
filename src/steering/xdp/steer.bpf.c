// SPDX-License-Identifier: BSD-3-Clause
// Hands each Open-MX frame to the processor of the endpoint that it is for.
//
// An XDP program without state. A frame's bytes and a table decide where it goes, and the table is written
// once, before the program is attached. All that is not a frame for an endpoint passes untouched.
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "steering/xdp/steer_shared.h"

// One queue and one kernel thread for each processor in the table. The loader sets the size.
struct {
  __uint(type, BPF_MAP_TYPE_CPUMAP);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
} omx_cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, STEER_ENDPOINTS);
  __type(key, __u32);
  __type(value, __u32);
} omx_targets SEC(".maps");

// Only this program writes here, each processor to its own values, so no atomics are needed.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, STEER_ENDPOINTS);
  __type(key, __u32);
  __type(value, struct steer_counts);
} omx_counts SEC(".maps");

static __always_inline __u32 ethertype_of(const __u8* frame) {
  return (__u32)frame[STEER_ETHERTYPE_AT] << 8 | frame[STEER_ETHERTYPE_AT + 1];
}

// Returns -1 for a frame that is for no endpoint (board frames, unknown types). `frame` has STEER_BYTES
// bytes.
static __always_inline int endpoint_of(const __u8* frame) {
  __u8 type = frame[STEER_TYPE_AT];

  if (type == STEER_TYPE_PULL_REPLY || type == STEER_TYPE_NACK_MCP)
    return frame[STEER_MAGIC_LOW_AT] ^ STEER_MAGIC_LOW;
  if (type == STEER_TYPE_NACK_LIB) return frame[STEER_NACK_LIB_ENDPOINT_AT];
  if (type >= STEER_TYPE_FIRST && type <= STEER_TYPE_NOTIFY) return frame[STEER_ENDPOINT_AT];
  if (type == STEER_TYPE_PROBE || type == STEER_TYPE_PACK) return frame[STEER_ENDPOINT_AT];
  return -1;
}

// "frags": a frame larger than a page comes in pieces. The first piece holds all that the program reads.
SEC("xdp.frags")
int omx_steer(struct xdp_md* ctx) {
  const __u8* end = (const __u8*)(long)ctx->data_end;
  const __u8* frame = (const __u8*)(long)ctx->data;
  struct steer_counts* counts;
  const __u32* target;
  __u32 type, key;
  int endpoint;

  if (frame + STEER_BYTES > end) return XDP_PASS;
  type = ethertype_of(frame);
  if (type == STEER_ETHERTYPE_TAG || type == STEER_ETHERTYPE_SERVICE_TAG) {
    frame += STEER_TAG_BYTES;
    if (frame + STEER_BYTES > end) return XDP_PASS;
    type = ethertype_of(frame);
  }
  if (type != STEER_ETHERTYPE) return XDP_PASS;
  endpoint = endpoint_of(frame);
  if (endpoint < 0) return XDP_PASS;

  key = endpoint;
  target = bpf_map_lookup_elem(&omx_targets, &key);
  counts = bpf_map_lookup_elem(&omx_counts, &key);
  if (!target || !counts) return XDP_PASS;
  // bpf_redirect_map() returns its last argument for a processor without an entry.
  if (*target != bpf_get_smp_processor_id() &&
      bpf_redirect_map(&omx_cpus, *target, XDP_PASS) == XDP_REDIRECT) {
    counts->moved++;
    return XDP_REDIRECT;
  }
  counts->stayed++;
  return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
