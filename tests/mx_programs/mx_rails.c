/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens several endpoints (rails) in one process and connects each to one of the other process. The rails
 * connect one after the other while the other process drives another rail. Each exchanges a large message,
 * then all play ping-pong at once. */
#include "pair.h"

enum { RAILS = 3, LARGE = 4 << 20, ROUNDS = 3 };

struct name {
  uint64_t nic;
  uint32_t id;
};

static struct pair rails[RAILS];
static unsigned char* data[RAILS];

static void rail_open(struct pair* pair, int r) {
  struct name own, other;
  mx_endpoint_addr_t address;
  rails[r] = *pair;
  CHECK_MX(mx_open_endpoint(MX_ANY_NIC, MX_ANY_ENDPOINT, PAIR_KEY, NULL, 0, &rails[r].endpoint));
  CHECK_MX(mx_get_endpoint_addr(rails[r].endpoint, &address));
  CHECK_MX(mx_decompose_endpoint_addr(address, &own.nic, &own.id));
  mx_request_t receive = pair_receive(pair, &other, sizeof other, (uint64_t)r);
  pair_finish(pair, pair_send(pair, &own, sizeof own, (uint64_t)r));
  pair_finish(pair, receive);
  /* Both sides connect at once, and each answers only from within its own connect. */
  CHECK_MX(mx_connect(rails[r].endpoint, other.nic, other.id, PAIR_KEY, PAIR_TIMEOUT_MS, &rails[r].other));
}

static void exchange_large(int r) {
  mx_segment_t segment = {data[r], LARGE};
  mx_request_t request;
  unsigned char* in = memory(LARGE);
  pattern_fill(data[r], LARGE, (unsigned)r);
  mx_request_t receive = pair_receive(&rails[r], in, LARGE, 1);
  CHECK_MX(mx_issend(rails[r].endpoint, &segment, 1, rails[r].other, 1, NULL, &request));
  pair_finish(&rails[r], request);
  pair_finish(&rails[r], receive);
  pattern_check(in, LARGE, (unsigned)r);
  free(in);
}

static unsigned seed_of(int r, unsigned round, int pong) {
  return (unsigned)r * 1000 + round * 2 + (unsigned)pong;
}

static mx_request_t send(int r, uint32_t length, unsigned round, int pong) {
  pattern_fill(data[r], length, seed_of(r, round, pong));
  return pair_send(&rails[r], data[r], length, round);
}

/* Sends on all rails, then serves each rail when its message is there, in any order. */
static void pingpong(uint32_t length, unsigned round, int is_sender) {
  mx_request_t sends[RAILS] = {0}, receives[RAILS];
  int left = RAILS;
  if (is_sender)
    for (int r = 0; r < RAILS; r++) pair_finish(&rails[r], send(r, length, round, 0));
  for (int r = 0; r < RAILS; r++) {
    memset(data[r], 0, length);
    receives[r] = pair_receive(&rails[r], data[r], length, round);
  }
  while (left > 0) {
    for (int r = 0; r < RAILS; r++) {
      mx_status_t status;
      uint32_t result = 0;
      if (!receives[r]) continue;
      CHECK_MX(mx_test(rails[r].endpoint, &receives[r], &status, &result));
      if (!result) continue;
      left--;
      CHECK(status.code == MX_STATUS_SUCCESS && status.msg_length == length && status.xfer_length == length);
      pattern_check(data[r], length, seed_of(r, round, is_sender));
      if (!is_sender) sends[r] = send(r, length, round, 1);
    }
  }
  for (int r = 0; r < RAILS; r++)
    if (sends[r]) pair_finish(&rails[r], sends[r]);
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  for (int r = 0; r < RAILS; r++) {
    data[r] = memory(LARGE);
    rail_open(&pair, r);
    exchange_large(r);
  }
  unsigned round = 1;
  for (uint32_t length = 0; length < LARGE; length = length ? 2 * length : 1)
    for (int i = 0; i < ROUNDS; i++) pingpong(length, ++round, pair.is_sender);
  pair_barrier(&pair);
  for (int r = 0; r < RAILS; r++) {
    CHECK_MX(mx_close_endpoint(rails[r].endpoint));
    free(data[r]);
  }
  pair_close(&pair);
  return 0;
}
