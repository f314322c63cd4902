/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks what the sender and the unexpected handler see, for each class of message, plain and synchronous.
 * The handler consumes the message, leaves it queued, posts a receive for it, posts an empty receive and
 * forgets it, or sends an answer. */
#include "pair.h"

#include <stdatomic.h>

enum { CONSUME, QUEUE, POST, POST_EMPTY, ANSWER, ACTIONS };
#define MATCH_ANSWER (1ULL << 40)

static const uint32_t lengths[] = {0, 1, 32, 33, 128, 129, 1000, 4096, 20000, 32768, 66000, 400000};
/* Longer messages go by rendezvous on every link. */
enum { SIZES = sizeof lengths / sizeof lengths[0], LARGE = 65536, LARGEST = 400000 };

static struct {
  struct pair* pair;
  unsigned char* data;
  mx_request_t posted;
  atomic_uint calls; /* the progress thread may call the handler; counted when everything else is done */
  unsigned number, length;
  int action, synchronous;
} now;
static int alone;

static mx_unexp_handler_action_t handler(void* context, mx_endpoint_addr_t source, uint64_t match_info,
                                         uint32_t length, void* data) {
  CHECK(context == &now);
  if (match_info >= MATCH_ANSWER) return MX_RECV_CONTINUE;
  CHECK(match_info == now.number && length == now.length);
  /* A plain message in one frame: the data are there. A synchronous one may come without them. */
  if (!now.synchronous && length > 0 && length <= 128) CHECK(data != NULL);
  if (length > LARGE) CHECK((data != NULL) == alone);
  if (data) pattern_check(data, length, now.number);
  if (now.action == POST) now.posted = pair_receive(now.pair, now.data, length, match_info);
  if (now.action == POST_EMPTY) {
    mx_request_t empty = pair_receive(now.pair, NULL, 0, match_info);
    CHECK_MX(mx_forget(now.pair->endpoint, &empty));
  }
  if (now.action == ANSWER)
    CHECK_MX(mx_isend(now.pair->endpoint, NULL, 0, source, MATCH_ANSWER | now.number, NULL, NULL));
  const int consumed = now.action == CONSUME || now.action == ANSWER;
  now.calls++;
  return consumed ? MX_RECV_FINISHED : MX_RECV_CONTINUE;
}

static void receive_step(struct pair* pair) {
  uint32_t found = 77;
  while (now.calls == 0) CHECK_MX(mx_progress(pair->endpoint));
  if (now.action == QUEUE) now.posted = pair_receive(pair, now.data, now.length, now.number);
  if (now.action == QUEUE || now.action == POST) {
    mx_status_t status = pair_finish(pair, now.posted);
    CHECK(status.msg_length == now.length && status.xfer_length == now.length);
    pattern_check(now.data, now.length, now.number);
  }
  CHECK(now.calls == 1);
  /* Nothing of the message must be left. */
  CHECK_MX(mx_iprobe(pair->endpoint, now.number, MX_MATCH_MASK_NONE, NULL, &found));
  CHECK(found == 0);
}

static mx_request_t send_step(struct pair* pair, unsigned char* data) {
  mx_segment_t segment = {data, now.length};
  mx_request_t request;
  pattern_fill(data, now.length, now.number);
  if (now.synchronous)
    CHECK_MX(mx_issend(pair->endpoint, &segment, 1, pair->other, now.number, NULL, &request));
  else
    CHECK_MX(mx_isend(pair->endpoint, &segment, 1, pair->other, now.number, NULL, &request));
  return request;
}

/* The receiver must request the data of a large or synchronous message, so its sender sees when they were not
 * taken. A process that sends to itself sees each receive that was too short, because the message is in
 * memory.
 */
static void send_check(mx_status_t status) {
  const int taken = now.action == QUEUE || now.action == POST;
  const int asked = now.synchronous || (alone ? now.action == POST_EMPTY : now.length > LARGE);
  CHECK(status.code == (!taken && asked && now.length > 0 ? MX_STATUS_TRUNCATED : MX_STATUS_SUCCESS));
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  unsigned char* data = memory(LARGEST);
  alone = pair.is_sender && pair.is_receiver;
  now.pair = &pair;
  now.data = memory(LARGEST);
  if (pair.is_receiver) CHECK_MX(mx_register_unexp_handler(pair.endpoint, handler, &now));
  for (unsigned i = 0; i < SIZES * ACTIONS * 2; i++) {
    mx_request_t request = 0, answer = 0;
    now.calls = 0;
    memset(now.data, 0x77, LARGEST);
    now.number = i;
    now.length = lengths[i % SIZES];
    now.action = (int)(i / SIZES % ACTIONS);
    now.synchronous = (int)(i / SIZES / ACTIONS);
    pair_barrier(&pair); /* the handler knows which message to expect */
    if (pair.is_sender) {
      if (now.action == ANSWER) answer = pair_receive(&pair, NULL, 0, MATCH_ANSWER | i);
      request = send_step(&pair, data);
    }
    if (pair.is_receiver) receive_step(&pair);
    if (pair.is_sender) {
      send_check(pair_wait(&pair, request));
      if (answer) pair_finish(&pair, answer);
    }
    pair_barrier(&pair);
  }
  if (pair.is_receiver) CHECK_MX(mx_register_unexp_handler(pair.endpoint, NULL, NULL));
  pair_close(&pair);
  free(data);
  free(now.data);
  return 0;
}
