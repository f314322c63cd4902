/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends messages of many sizes there and back, expected and unexpected, plain and synchronous. Checks every
 * byte. */
#include "pair.h"

static void exchange(struct pair* pair, unsigned char* data, uint32_t length, unsigned round) {
  if (pair->is_sender) {
    mx_segment_t segment = {data, length};
    mx_request_t request;
    pattern_fill(data, length, round);
    if (round % 3 == 0)
      CHECK_MX(mx_issend(pair->endpoint, &segment, 1, pair->other, round, data, &request));
    else
      CHECK_MX(mx_isend(pair->endpoint, &segment, 1, pair->other, round, data, &request));
    mx_status_t status = pair_finish(pair, request);
    CHECK(status.context == data && status.msg_length == length && status.xfer_length == length);
    memset(data, 0, length);
    pair_finish(pair, pair_receive(pair, data, length, round));
    pattern_check(data, length, round + 1);
    return;
  }
  if (round % 2) { /* the message arrives before its receive is posted */
    mx_status_t probed;
    uint32_t found = 0;
    CHECK_MX(mx_probe(pair->endpoint, PAIR_TIMEOUT_MS, round, MX_MATCH_MASK_NONE, &probed, &found));
    CHECK(found && probed.msg_length == length && probed.xfer_length == length);
  }
  mx_status_t status = pair_finish(pair, pair_receive(pair, data, length, round));
  CHECK(status.match_info == round && status.msg_length == length && status.xfer_length == length);
  pattern_check(data, length, round);
  pattern_fill(data, length, round + 1);
  pair_finish(pair, pair_send(pair, data, length, round));
}

int main(int argc, char** argv) {
  enum { LARGEST = 4 << 20 };
  struct pair pair = pair_open(argc, argv);
  unsigned char* data = memory(LARGEST + 1);
  unsigned round = 0;
  for (uint32_t power = 1; power <= LARGEST; power *= 2)
    for (int delta = -1; delta <= 1; delta++)
      for (int times = 0; times < 3; times++) exchange(&pair, data, power + (uint32_t)delta, ++round);
  pair_close(&pair);
  free(data);
  return 0;
}
