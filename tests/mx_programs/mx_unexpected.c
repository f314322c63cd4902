/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the unexpected handler: it consumes some messages, posts a receive for others, and leaves the rest
 * queued. */
#include "pair.h"

#include <stdatomic.h>

enum { CONSUME = 1, POST = 2, QUEUE = 3 };
#define ACTION(match_info) ((int)((match_info) >> 32 & 0xff))
#define MATCH(action, round) ((uint64_t)(action) << 32 | (round))

static const uint32_t lengths[] = {0, 16, 100, 5000, 32768, 500000};
enum { SIZES = sizeof lengths / sizeof lengths[0], ROUNDS = 5 * SIZES };

static struct {
  struct pair* pair;
  unsigned char* data;
  mx_request_t posted;
  atomic_uint calls; /* the progress thread may call the handler; counted when everything else is done */
} state;

static mx_unexp_handler_action_t handler(void* context, mx_endpoint_addr_t source, uint64_t match_info,
                                         uint32_t length, void* data) {
  CHECK(context == &state);
  if (match_info >= PAIR_MATCH_BARRIER) return MX_RECV_CONTINUE;
  const unsigned round = (unsigned)(match_info & 0xffff);
  void* address_context = NULL;
  CHECK_MX(mx_get_endpoint_addr_context(source, &address_context));
  CHECK(address_context == &state);
  CHECK(length == lengths[round % SIZES]);
  /* A message of at most 128 bytes arrives in one frame, so its data are there. */
  if (length > 0 && length <= 128) CHECK(data != NULL);
  if (data) pattern_check(data, length, round);
  if (ACTION(match_info) == POST) {
    uint32_t result = 77;
    state.posted = pair_receive(state.pair, state.data, length, match_info);
    CHECK_MX(mx_test(state.pair->endpoint, &state.posted, NULL, &result));
    CHECK(result == 0);
  }
  state.calls++;
  return ACTION(match_info) == CONSUME ? MX_RECV_FINISHED : MX_RECV_CONTINUE;
}

static void await_calls(struct pair* pair, unsigned calls) {
  while (state.calls < calls) CHECK_MX(mx_progress(pair->endpoint));
}

static void receive_round(struct pair* pair, unsigned round) {
  const uint32_t length = lengths[round % SIZES];
  /* After the barrier, some of this round's calls may have happened already. */
  const unsigned calls = 3 * round;
  uint32_t found = 0;

  await_calls(pair, calls + 1); /* CONSUME */
  await_calls(pair, calls + 2); /* POST */
  pair_finish(pair, state.posted);
  pattern_check(state.data, length, round);

  await_calls(pair, calls + 3); /* QUEUE */
  CHECK_MX(mx_iprobe(pair->endpoint, MATCH(QUEUE, round), MX_MATCH_MASK_NONE, NULL, &found));
  CHECK(found == 1);
  memset(state.data, 0, length);
  pair_finish(pair, pair_receive(pair, state.data, length, MATCH(QUEUE, round)));
  pattern_check(state.data, length, round);
  CHECK(state.calls == calls + 3);
  memset(state.data, 0, lengths[SIZES - 1]);
}

static void send_round(struct pair* pair, unsigned char* data, unsigned round) {
  const uint32_t length = lengths[round % SIZES];
  pattern_fill(data, length, round);
  for (int action = CONSUME; action <= QUEUE; action++) {
    mx_status_t status = pair_wait(pair, pair_send(pair, data, length, MATCH(action, round)));
    CHECK(status.code == MX_STATUS_SUCCESS || (action == CONSUME && status.code == MX_STATUS_TRUNCATED));
  }
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  unsigned char* data = memory(lengths[SIZES - 1]);
  if (!pair.is_sender) {
    state.pair = &pair;
    state.data = data;
    CHECK_MX(mx_set_endpoint_addr_context(pair.other, &state));
    CHECK_MX(mx_register_unexp_handler(pair.endpoint, handler, &state));
  }
  pair_barrier(&pair);
  for (unsigned round = 0; round < ROUNDS; round++) {
    if (pair.is_sender)
      send_round(&pair, data, round);
    else
      receive_round(&pair, round);
    pair_barrier(&pair);
  }
  if (!pair.is_sender) CHECK_MX(mx_register_unexp_handler(pair.endpoint, NULL, NULL));
  pair_close(&pair);
  free(data);
  return 0;
}
