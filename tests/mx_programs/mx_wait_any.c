/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keeps sends and receives of four sizes in flight, in both directions. A bit of the match information
 * distinguishes sends from receives. wait_any must find each request once, by several masks. */
#include "pair.h"

#define SEND_BIT (1ULL << 41)
#define RECEIVE_BIT (1ULL << 42)
#define KIND_BITS (SEND_BIT | RECEIVE_BIT)

static const uint32_t lengths[] = {0, 64, 4096, 131072};
enum { SIZES = sizeof lengths / sizeof lengths[0], EACH = 20, COUNT = SIZES * EACH };

struct slot {
  unsigned char* data;
  uint32_t length;
  unsigned number;
  int done;
};

static struct slot sends[COUNT], receives[COUNT];

static void post_all(struct pair* pair) {
  for (unsigned i = 0; i < COUNT; i++) {
    mx_request_t request;
    struct slot* r = &receives[i];
    mx_segment_t segment = {r->data, r->length};
    /* The other side sends with its SEND_BIT. */
    CHECK_MX(mx_irecv(pair->endpoint, &segment, 1, SEND_BIT | i, MX_MATCH_MASK_NONE, r, &request));
  }
  for (unsigned i = 0; i < COUNT; i++) {
    mx_request_t request;
    struct slot* s = &sends[i];
    mx_segment_t segment = {s->data, s->length};
    pattern_fill(s->data, s->length, i);
    CHECK_MX(mx_isend(pair->endpoint, &segment, 1, pair->other, SEND_BIT | i, s, &request));
  }
}

static void collect_one(struct pair* pair, uint64_t info, uint64_t mask) {
  mx_status_t status;
  uint32_t result = 0;
  CHECK_MX(mx_wait_any(pair->endpoint, PAIR_TIMEOUT_MS, info, mask, &status, &result));
  CHECK(result == 1 && status.code == MX_STATUS_SUCCESS);
  CHECK((status.match_info & mask) == info);
  struct slot* slot = status.context;
  CHECK(!slot->done);
  slot->done = 1;
  CHECK(status.msg_length == slot->length && status.xfer_length == slot->length);
  CHECK((status.match_info & 0xffff) == slot->number);
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  for (unsigned i = 0; i < COUNT; i++) {
    sends[i].number = receives[i].number = i;
    sends[i].length = receives[i].length = lengths[i % SIZES];
    sends[i].data = memory(sends[i].length);
    receives[i].data = memory(receives[i].length);
  }
  for (int round = 0; round < 5; round++) {
    uint32_t result = 0;
    for (unsigned i = 0; i < COUNT; i++) sends[i].done = receives[i].done = 0;
    post_all(&pair);
    /* No request has this bit. */
    CHECK_MX(mx_test_any(pair.endpoint, RECEIVE_BIT, KIND_BITS, NULL, &result));
    CHECK(result == 0);
    /* Collects number 7 twice (send and receive), then the rest. */
    for (int i = 0; i < 2; i++) collect_one(&pair, 7, 0xffff);
    for (int i = 2; i < COUNT; i++) collect_one(&pair, SEND_BIT, KIND_BITS);
    for (int i = 0; i < COUNT; i++) collect_one(&pair, 0, 0);
    CHECK_MX(mx_test_any(pair.endpoint, 0, 0, NULL, &result));
    CHECK(result == 0);
    for (unsigned i = 0; i < COUNT; i++) {
      CHECK(sends[i].done && receives[i].done);
      pattern_check(receives[i].data, receives[i].length, i);
      memset(receives[i].data, 0, receives[i].length);
    }
    pair_barrier(&pair);
  }
  pair_close(&pair);
  for (unsigned i = 0; i < COUNT; i++) {
    free(sends[i].data);
    free(receives[i].data);
  }
  return 0;
}
