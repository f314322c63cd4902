// SPDX-License-Identifier: BSD-3-Clause
// A tc program that counts the processors on which a host takes in its frames, after XDP and its hand-overs.
// It decodes the frames itself, as a second opinion on steer.bpf.c. where.py attaches it.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

enum { kProcessors = 64, kEndpoints = 256, kIp = kEndpoints, kBoard, kRows };

// A row is an endpoint, IP, or frames of the board. A column is a processor.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kRows* kProcessors);
  __type(key, __u32);
  __type(value, __u64);
  __uint(pinning, LIBBPF_PIN_BY_NAME);
} where_counts SEC(".maps");

static __always_inline __u32 row_of(struct __sk_buff* skb) {
  __u8 head[32];

  // bpf_skb_load_bytes does not work here: after generic XDP the kernel (6.18) does not know the length of
  // the Ethernet header.
  if (bpf_skb_load_bytes_relative(skb, 0, head, sizeof(head), BPF_HDR_START_MAC) < 0) return kRows;
  if (head[12] == 0x08 && head[13] == 0x00) return kIp;
  if (head[12] != 0x86 || head[13] != 0xDF) return kRows;
  switch (head[16]) {
    case 1:
    case 3:
    case 4:
      return kBoard;
    case 42:
    case 45:
      return head[31] ^ 0x80;
    case 44:
      return head[25];
    default:
      return head[17];
  }
}

SEC("tc/where")
int where(struct __sk_buff* skb) {
  __u32 row = row_of(skb), processor = bpf_get_smp_processor_id(), key;
  __u64* count;

  if (row >= kRows || processor >= kProcessors) return TC_ACT_UNSPEC;
  key = row * kProcessors + processor;
  count = bpf_map_lookup_elem(&where_counts, &key);
  if (count) __sync_fetch_and_add(count, 1);
  return TC_ACT_UNSPEC;
}

// An XDP program of another owner.
SEC("xdp")
int someone(struct xdp_md* ctx) {
  return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
