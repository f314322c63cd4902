// SPDX-License-Identifier: BSD-3-Clause
// Marks packets that find a long queue at a port of the lab's switch (ECN, RFC 3168), as switches do.
//
// The program sees a packet before the port's queue does, so it keeps a queue of its own: when all that has
// come would have left at the rate of the port. omxlab/marks.py attaches it.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#ifndef BITS_PER_MS
#error "BITS_PER_MS, MARK_BYTES and QUEUE_BYTES come from omxlab/marks.py"
#endif

#define NS_PER_MS 1000000ull
#define TIME_OF(bytes) ((__u64)(bytes)*8 * NS_PER_MS / BITS_PER_MS)
// Several processors may send by the port at once. One that never wins leaves its packet unmarked.
#define TRIES 4

struct port {
  __u64 free_at;  // when the last packet will have left, in ns
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct port);
} lab_port SEC(".maps");

SEC("tc/mark")
int mark(struct __sk_buff* skb) {
  const __u32 first = 0;
  struct port* port = bpf_map_lookup_elem(&lab_port, &first);
  const __u64 now = bpf_ktime_get_ns(), time = TIME_OF(skb->len);

  if (!port) return TC_ACT_UNSPEC;
  for (int i = 0; i < TRIES; i++) {
    const __u64 was = port->free_at, begins = was > now ? was : now;
    if (begins - now + time > TIME_OF(QUEUE_BYTES)) return TC_ACT_UNSPEC;  // the port loses it
    if (__sync_val_compare_and_swap(&port->free_at, was, begins + time) != was) continue;
    if (begins - now >= TIME_OF(MARK_BYTES)) bpf_skb_ecn_set_ce(skb);
    break;
  }
  return TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
