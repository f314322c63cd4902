/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancels receives (matched and unmatched), connects and sends. A cancelled operation never completes; every
 * other one does. */
#include "pair.h"

static void cancel(struct pair* pair, mx_request_t* request, mx_return_t code, uint32_t expected) {
  uint32_t result = 77;
  CHECK(mx_cancel(pair->endpoint, request, &result) == code);
  CHECK(result == expected);
  CHECK((*request == 0) == (expected == 1));
}

static void nothing_done(struct pair* pair) {
  mx_request_t request;
  uint32_t result = 77;
  CHECK_MX(mx_ipeek(pair->endpoint, &request, &result));
  CHECK(result == 0);
}

int main(int argc, char** argv) {
  enum { LENGTH = 200000 };
  struct pair pair = pair_open(argc, argv);
  unsigned char* data = memory(LENGTH);
  unsigned char* unused = memory(LENGTH);
  mx_request_t request;
  for (unsigned round = 0; round < 50; round++) {
    const uint32_t length = round % 2 ? LENGTH : 100;
    if (pair.is_sender) {
      pattern_fill(data, length, round);
      pair_barrier(&pair); /* the other side has cancelled */
      request = pair_send(&pair, data, length, round);
      cancel(&pair, &request, MX_BAD_REQUEST, 0);
      pair_finish(&pair, request);
    } else {
      memset(unused, 0, LENGTH);
      mx_request_t dead = pair_receive(&pair, unused, length, round);
      request = pair_receive(&pair, data, length, round);
      cancel(&pair, &dead, MX_SUCCESS, 1);
      pair_barrier(&pair);
      pair_finish(&pair, request);
      pattern_check(data, length, round);
      for (uint32_t i = 0; i < length; i++) CHECK(unused[i] == 0);
    }
    pair_barrier(&pair);
    nothing_done(&pair);
  }
  /* No endpoint answers, so the connect is pending until it is cancelled. */
  CHECK_MX(mx_iconnect(pair.endpoint, 0x020000000001ULL, 9, PAIR_KEY, 1, NULL, &request));
  cancel(&pair, &request, MX_SUCCESS, 1);
  nothing_done(&pair);
  pair_close(&pair);
  free(data);
  free(unused);
  return 0;
}
