// SPDX-License-Identifier: BSD-3-Clause
// Damages the traffic of one lab host: drops, duplicates or corrupts frames, or cuts the host off.
//
// There are two tc programs, one for each direction as the host sees it. They only watch and damage.
// TC_ACT_UNSPEC passes a frame on to the next filter of the interface. omxlab/faults.py attaches them, and
// mirrors the two structures below.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum direction { kIn = 0, kOut = 1, kDirections = 2 };

// Only user space writes it.
struct fault_config {
  __u64 drop;  // probabilities are multiples of 2^-32, so 2^32 means always
  __u64 duplicate;
  __u64 corrupt;
  __u64 seed;
  __u64 first;      // value of `matched` when this setting was made: that frame is number 0 of the seed
  __u32 ethertype;  // 0: any
  __s32 type;       // byte at kTypeOffset; -1: any
  __u32 cut;        // the cable is cut: no frame passes, whatever its ethertype
  __u32 batches;    // damages only GSO batches, which the NIC should have split
};

// Only these programs write it, with atomics, because frames arrive on any core.
struct fault_counters {
  __u64 seen;
  __u64 matched;  // seen, and of the chosen ethertype and type
  __u64 dropped;
  __u64 duplicated;
  __u64 corrupted;
  __u64 cut;
};

// Pinned by name, so that the two programs share the maps and user space finds them. The pins are in a bpffs
// that is private to the host.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kDirections);
  __type(key, __u32);
  __type(value, struct fault_config);
  __uint(pinning, LIBBPF_PIN_BY_NAME);
} lab_config SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kDirections);
  __type(key, __u32);
  __type(value, struct fault_counters);
  __uint(pinning, LIBBPF_PIN_BY_NAME);
} lab_counters SEC(".maps");

#define ETHERTYPE_OFFSET 12
#define TYPE_OFFSET 16  // after the Ethernet header (14), third byte of the Open-MX header

// A duplicate passes the same programs again. The mark says which program made it. Marks do not cross a veth,
// so no outside process can send one.
#define DUPLICATE_MARK(direction) (0x0d0b0000u + (direction))

// Returns splitmix64 of (seed, frame, draw). It needs no state, so the fate of frame n under a seed is the
// same in every run, whichever core the frame arrives on.
static __always_inline __u64 draw(__u64 seed, __u64 frame, __u32 which) {
  __u64 x = seed + (frame * 4 + which + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static __always_inline int happens(__u64 random, __u64 probability) {
  return (random >> 32) < probability;
}

static __always_inline int matches(struct __sk_buff* skb, const struct fault_config* config) {
  __be16 ethertype;
  __u8 type;

  if (config->batches && skb->gso_segs < 2) return 0;
  if (config->ethertype != 0) {
    if (bpf_skb_load_bytes(skb, ETHERTYPE_OFFSET, &ethertype, sizeof(ethertype)) < 0) return 0;
    if (bpf_ntohs(ethertype) != config->ethertype) return 0;
  }
  if (config->type >= 0) {
    if (bpf_skb_load_bytes(skb, TYPE_OFFSET, &type, sizeof(type)) < 0) return 0;
    if (type != config->type) return 0;
  }
  return 1;
}

// Flips one bit anywhere in the frame. The helpers find the byte in nonlinear frames too. They first copy
// what is shared with the sender or a clone.
static __always_inline int corrupt(struct __sk_buff* skb, __u64 random) {
  __u32 offset = ((random >> 32) * skb->len) >> 32;
  __u8 byte;

  if (bpf_skb_load_bytes(skb, offset, &byte, sizeof(byte)) < 0) return 0;
  byte ^= 1u << (random & 7);
  return bpf_skb_store_bytes(skb, offset, &byte, sizeof(byte), 0) == 0;
}

// `redirect` is BPF_F_INGRESS if the program is on an ingress hook.
static __always_inline int duplicate(struct __sk_buff* skb, __u32 direction, __u64 redirect) {
  __u32 mark = skb->mark;
  int result;

  skb->mark = DUPLICATE_MARK(direction);
  result = bpf_clone_redirect(skb, skb->ifindex, redirect);
  skb->mark = mark;
  return result == 0;
}

static __always_inline int damage(struct __sk_buff* skb, __u32 direction, __u64 redirect) {
  struct fault_config* config = bpf_map_lookup_elem(&lab_config, &direction);
  struct fault_counters* counters = bpf_map_lookup_elem(&lab_counters, &direction);
  __u64 frame, seed;

  if (!config || !counters) return TC_ACT_UNSPEC;
  if (skb->mark == DUPLICATE_MARK(direction)) {
    skb->mark = 0;
    return TC_ACT_UNSPEC;
  }
  // In a cable lab the "out" filter of one host and the "in" filter of the other share a hook, with "out"
  // first. Frames that "in" duplicated have passed "out".
  if (direction == kOut && skb->mark == DUPLICATE_MARK(kIn)) return TC_ACT_UNSPEC;

  __sync_fetch_and_add(&counters->seen, 1);
  if (config->cut) {
    __sync_fetch_and_add(&counters->cut, 1);
    return TC_ACT_SHOT;
  }
  if (!matches(skb, config)) return TC_ACT_UNSPEC;
  frame = __sync_fetch_and_add(&counters->matched, 1) - config->first;
  // Both directions usually get one seed, but their faults must differ.
  seed = config->seed + direction * 0x632be59bd9b4e019ull;

  if (happens(draw(seed, frame, 0), config->drop)) {
    __sync_fetch_and_add(&counters->dropped, 1);
    return TC_ACT_SHOT;
  }
  // The duplicate is made before the damage, so one of the two frames stays whole.
  if (happens(draw(seed, frame, 1), config->duplicate) && duplicate(skb, direction, redirect))
    __sync_fetch_and_add(&counters->duplicated, 1);
  if (happens(draw(seed, frame, 2), config->corrupt) && corrupt(skb, draw(seed, frame, 3)))
    __sync_fetch_and_add(&counters->corrupted, 1);
  return TC_ACT_UNSPEC;
}

SEC("tc/in_at_ingress")
int in_at_ingress(struct __sk_buff* skb) {
  return damage(skb, kIn, BPF_F_INGRESS);
}

SEC("tc/in_at_egress")
int in_at_egress(struct __sk_buff* skb) {
  return damage(skb, kIn, 0);
}

SEC("tc/out_at_ingress")
int out_at_ingress(struct __sk_buff* skb) {
  return damage(skb, kOut, BPF_F_INGRESS);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
