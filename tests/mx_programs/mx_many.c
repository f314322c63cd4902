/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends many messages of each size without waiting, more than windows, rings and buffers hold. The receiver
 * posts its receives before, afterwards, or half and half. No message may be lost, and the order must stay.
 */
#include "pair.h"

enum { BEFORE, AFTER, HALF, TIMES };

struct flood {
  uint32_t length;
  unsigned count;
};

static unsigned char* messages;
static mx_request_t* requests;

static void receives_post(struct pair* pair, const struct flood* flood, unsigned first, unsigned end) {
  for (unsigned i = first; i < end; i++) {
    mx_segment_t segment = {messages + (size_t)i * flood->length, flood->length};
    /* Matches any message of the flood: the first message takes the first receive. */
    CHECK_MX(mx_irecv(pair->endpoint, &segment, 1, flood->length, 0xffffffff, NULL, &requests[i]));
  }
}

static void receive(struct pair* pair, const struct flood* flood, int when) {
  const unsigned early = when == BEFORE ? flood->count : when == HALF ? flood->count / 2 : 0;
  receives_post(pair, flood, 0, early);
  pair_barrier(pair);
  if (early < flood->count) { /* one message without a receive is here, so the others are on their way */
    uint32_t found = 0;
    CHECK_MX(mx_probe(pair->endpoint, PAIR_TIMEOUT_MS, flood->length, 0xffffffff, NULL, &found));
    CHECK(found == 1);
  }
  receives_post(pair, flood, early, flood->count);
  for (unsigned i = 0; i < flood->count; i++) {
    mx_status_t status = pair_finish(pair, requests[i]);
    CHECK(status.match_info >> 32 == i && status.msg_length == flood->length);
    pattern_check(messages + (size_t)i * flood->length, flood->length, i);
  }
}

static void send(struct pair* pair, const struct flood* flood) {
  for (unsigned i = 0; i < flood->count; i++)
    pattern_fill(messages + (size_t)i * flood->length, flood->length, i);
  pair_barrier(pair);
  for (unsigned i = 0; i < flood->count; i++)
    requests[i] = pair_send(pair, messages + (size_t)i * flood->length, flood->length,
                            (uint64_t)i << 32 | flood->length);
  /* Waits for the last request first. */
  for (unsigned i = flood->count; i > 0; i--) pair_finish(pair, requests[i - 1]);
}

int main(int argc, char** argv) {
  static const struct flood floods[] = {{0, 1500},    {13, 1500},    {111, 1500},  {1234, 1500},
                                        {12345, 300}, {123456, 100}, {1234567, 12}};
  struct pair pair = pair_open(argc, argv);
  messages = memory(16 << 20);
  requests = memory(1500 * sizeof *requests);
  for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++)
    for (int when = 0; when < TIMES; when++) {
      if (pair.is_sender)
        send(&pair, &floods[i]);
      else
        receive(&pair, &floods[i], when);
      pair_barrier(&pair);
    }
  pair_close(&pair);
  free(messages);
  free(requests);
  return 0;
}
