// SPDX-License-Identifier: BSD-3-Clause
// Hands each Open-MX frame to the AF_XDP socket of its endpoint.
//
// Other frames pass unchanged to the kernel: IP, frames for the board, for endpoints of other processes, and
// frames that their socket could not hold. The same goes for frames of an endpoint without a socket on the
// queue where they arrived. Packet sockets take these Open-MX frames, so that no frame depends on this
// program.
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "xdp_shared.h"

// The index is queue * OMX_XDP_ENDPOINTS + endpoint. The kernel removes a socket that is closed.
struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);
  __uint(max_entries, OMX_XDP_QUEUES* OMX_XDP_ENDPOINTS);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
} omx_xdp_sockets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, OMX_XDP_ENDPOINTS);
  __type(key, __u32);
  __type(value, struct omx_xdp_rule);
} omx_xdp_rules SEC(".maps");

// Returns the endpoint that a frame is for, or -1 for none (board frames, unknown types). `frame` has
// OMX_XDP_BYTES bytes.
static __always_inline int endpoint_of(const __u8* frame) {
  __u8 type = frame[OMX_XDP_TYPE_AT];

  if (type == OMX_XDP_TYPE_PULL_REPLY || type == OMX_XDP_TYPE_NACK_MCP)
    return frame[OMX_XDP_MAGIC_LOW_AT] ^ OMX_XDP_MAGIC_LOW;
  if (type == OMX_XDP_TYPE_NACK_LIB) return frame[OMX_XDP_NACK_LIB_ENDPOINT_AT];
  if (type >= OMX_XDP_TYPE_FIRST && type <= OMX_XDP_TYPE_NOTIFY) return frame[OMX_XDP_ENDPOINT_AT];
  if (type == OMX_XDP_TYPE_PROBE || type == OMX_XDP_TYPE_PACK) return frame[OMX_XDP_ENDPOINT_AT];
  return -1;
}

// Returns whether a frame is to our address or to a group. In promiscuous mode a NIC also takes frames for
// other hosts.
static __always_inline int for_us(const __u8* frame, const __u8* nic) {
  int i;

  if (frame[0] & 1) return 1;
  for (i = 0; i < 6; i++)
    if (frame[i] != nic[i]) return 0;
  return 1;
}

// "frags": frames larger than a page come in pieces. The first piece holds all that is read here.
SEC("xdp.frags")
int omx_xdp(struct xdp_md* ctx) {
  const __u8* end = (const __u8*)(long)ctx->data_end;
  const __u8* frame = (const __u8*)(long)ctx->data;
  const struct omx_xdp_rule* rule;
  __u32 key;
  int endpoint;

  if (frame + OMX_XDP_BYTES > end) return XDP_PASS;
  if (((__u32)frame[OMX_XDP_ETHERTYPE_AT] << 8 | frame[OMX_XDP_ETHERTYPE_AT + 1]) != OMX_XDP_ETHERTYPE)
    return XDP_PASS;
  endpoint = endpoint_of(frame);
  if (endpoint < 0 || ctx->rx_queue_index >= OMX_XDP_QUEUES) return XDP_PASS;

  key = endpoint;
  rule = bpf_map_lookup_elem(&omx_xdp_rules, &key);
  if (!rule || bpf_xdp_get_buff_len(ctx) > rule->largest || !for_us(frame, rule->nic)) return XDP_PASS;
  // Without an entry the last argument is the result.
  return bpf_redirect_map(&omx_xdp_sockets, ctx->rx_queue_index * OMX_XDP_ENDPOINTS + key, XDP_PASS);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
