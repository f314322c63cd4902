/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends messages of all lengths and alignments, eleven at a time, plain and synchronous, expected and
 * unexpected, and checks the bytes around them. Lengths are all up to two frames, those around each power of
 * two, and random ones. */
#include "pair.h"

enum { BATCH = 11, GUARD = 64, ALIGNMENTS = 128, LARGEST = 1 << 20, GUARD_BYTE = 0xc3 };
enum { ROOM = GUARD + ALIGNMENTS + LARGEST + GUARD };

struct message {
  uint32_t length, from, to; /* offsets of the data, on the sending and the receiving side */
  int synchronous, early;
};

static unsigned char* sent[BATCH];
static unsigned char* received[BATCH];
static struct message batch[BATCH];
static unsigned batched, rounds, seed = 1;

static void receive_check(const struct message* m, const unsigned char* room, unsigned number) {
  const unsigned char* data = room + GUARD + m->to;
  pattern_check(data, m->length, number);
  for (const unsigned char* p = data - GUARD; p < data; p++) CHECK(*p == GUARD_BYTE);
  for (const unsigned char* p = data + m->length; p < data + m->length + GUARD; p++) CHECK(*p == GUARD_BYTE);
}

static mx_request_t receive_post(struct pair* pair, unsigned i) {
  const struct message* m = &batch[i];
  unsigned char* data = received[i] + GUARD + m->to;
  memset(data - GUARD, GUARD_BYTE, m->length + 2 * GUARD);
  return pair_receive(pair, data, m->length, rounds << 8 | i);
}

static mx_request_t send_post(struct pair* pair, unsigned i) {
  const struct message* m = &batch[i];
  mx_segment_t segment = {sent[i] + GUARD + m->from, m->length};
  mx_request_t request;
  pattern_fill(segment.segment_ptr, m->length, rounds + i);
  if (m->synchronous)
    CHECK_MX(mx_issend(pair->endpoint, &segment, 1, pair->other, rounds << 8 | i, NULL, &request));
  else
    CHECK_MX(mx_isend(pair->endpoint, &segment, 1, pair->other, rounds << 8 | i, NULL, &request));
  return request;
}

static void batch_run(struct pair* pair) {
  mx_request_t sends[BATCH], receives[BATCH];
  for (unsigned i = 0; i < batched && pair->is_receiver; i++)
    if (batch[i].early) receives[i] = receive_post(pair, i);
  for (unsigned i = 0; i < batched && pair->is_sender; i++) sends[i] = send_post(pair, i);
  for (unsigned i = 0; i < batched && pair->is_receiver; i++) {
    if (!batch[i].early) {
      mx_status_t status;
      uint32_t found = 0;
      CHECK_MX(
          mx_probe(pair->endpoint, PAIR_TIMEOUT_MS, rounds << 8 | i, MX_MATCH_MASK_NONE, &status, &found));
      CHECK(found && status.msg_length == batch[i].length);
      receives[i] = receive_post(pair, i);
    }
    const mx_status_t status = pair_finish(pair, receives[i]);
    CHECK(status.msg_length == batch[i].length && status.xfer_length == batch[i].length);
    receive_check(&batch[i], received[i], rounds + i);
  }
  for (unsigned i = 0; i < batched && pair->is_sender; i++) pair_finish(pair, sends[i]);
  batched = 0;
  rounds++;
}

static void add(struct pair* pair, uint32_t length, uint32_t from, uint32_t to) {
  const unsigned chance = random_next(&seed);
  batch[batched++] = (struct message){length, from, to, chance % 5 == 0, chance / 5 % 3 != 0};
  if (batched == BATCH) batch_run(pair);
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  for (int i = 0; i < BATCH; i++) {
    sent[i] = memory(ROOM);
    received[i] = memory(ROOM);
  }
  for (uint32_t length = 0; length <= 3000; length++) add(&pair, length, length % 61 % 8, length % 59 % 8);
  for (uint32_t from = 0; from < 16; from++)
    for (uint32_t to = 0; to < 16; to++)
      for (uint32_t length = 1; length <= 100000; length *= 15) add(&pair, length + from, from, to);
  for (uint32_t power = 128; power <= LARGEST / 2; power *= 2)
    for (int delta = -3; delta <= 3; delta++)
      for (uint32_t to = 0; to < 3; to++) add(&pair, power + (uint32_t)delta, (to + 1) % 3, to);
  for (int i = 0; i < 500; i++) {
    const uint32_t limit = 1U << random_next(&seed) % 20;
    const uint32_t length = random_next(&seed) % limit;
    const uint32_t from = random_next(&seed) % ALIGNMENTS;
    add(&pair, length, from, random_next(&seed) % ALIGNMENTS);
  }
  batch_run(&pair);
  pair_close(&pair);
  for (int i = 0; i < BATCH; i++) {
    free(sent[i]);
    free(received[i]);
  }
  return 0;
}
