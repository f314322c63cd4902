/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs threads with an endpoint each. They post and cancel thousands of receives, close and open endpoints,
 * and then each exchanges messages with a thread of the other process. */
#include <pthread.h>

#include "pair.h"

enum {
  THREADS = 4,
  FIRST_ID = 8,
  REOPENS = 16,
  CANCELS = 10,
  RECEIVES = 4096,
  MESSAGES = 200,
  LENGTH = 40000
};

struct worker {
  pthread_t thread;
  struct pair pair;
  uint32_t id, other_id;
  uint64_t other_nic;
};

static pthread_barrier_t all_open;

static void post_and_cancel(struct pair* pair, unsigned count) {
  static __thread mx_request_t requests[RECEIVES];
  unsigned char byte;
  for (unsigned i = 0; i < count; i++) requests[i] = pair_receive(pair, &byte, 1, i);
  for (unsigned i = 0; i < count; i++) {
    /* Takes requests from both ends in turn. */
    mx_request_t* request = &requests[i % 2 ? count - 1 - i / 2 : i / 2];
    uint32_t result = 0;
    CHECK_MX(mx_cancel(pair->endpoint, request, &result));
    CHECK(result == 1 && *request == 0);
  }
}

static void endpoint_open(struct worker* w) {
  CHECK_MX(mx_open_endpoint(MX_ANY_NIC, w->id, PAIR_KEY, NULL, 0, &w->pair.endpoint));
}

static void exchange(struct worker* w) {
  unsigned char* out = memory(LENGTH);
  unsigned char* in = memory(LENGTH);
  for (unsigned i = 0; i < MESSAGES; i++) {
    const uint32_t length = i * 201 % LENGTH;
    pattern_fill(out, length, i + w->id);
    mx_request_t receive = pair_receive(&w->pair, in, length, i);
    mx_request_t sent = pair_send(&w->pair, out, length, i);
    CHECK(pair_finish(&w->pair, receive).msg_length == length);
    pattern_check(in, length, i + w->other_id);
    pair_finish(&w->pair, sent);
  }
  free(out);
  free(in);
}

static void* work(void* argument) {
  struct worker* w = argument;
  for (unsigned i = 0; i < CANCELS; i++) {
    endpoint_open(w);
    post_and_cancel(&w->pair, i ? 8U << (i - 1) : 8);
    CHECK_MX(mx_close_endpoint(w->pair.endpoint));
  }
  for (int i = 0; i < REOPENS; i++) {
    endpoint_open(w);
    CHECK_MX(mx_close_endpoint(w->pair.endpoint));
  }
  endpoint_open(w);
  pthread_barrier_wait(&all_open); /* the main thread notifies the other process */
  pthread_barrier_wait(&all_open);
  CHECK_MX(
      mx_connect(w->pair.endpoint, w->other_nic, w->other_id, PAIR_KEY, PAIR_TIMEOUT_MS, &w->pair.other));
  exchange(w);
  return NULL;
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  struct worker workers[THREADS];
  uint64_t other_nic;
  uint32_t id;
  CHECK_MX(mx_decompose_endpoint_addr(pair.other, &other_nic, &id));
  CHECK(pthread_barrier_init(&all_open, NULL, THREADS + 1) == 0);
  for (uint32_t i = 0; i < THREADS; i++) {
    struct worker* w = &workers[i];
    w->pair = pair;
    w->other_nic = other_nic;
    w->id = FIRST_ID + (pair.is_sender ? THREADS : 0) + i;
    w->other_id = FIRST_ID + (pair.is_sender ? 0 : THREADS) + i;
    CHECK(pthread_create(&w->thread, NULL, work, w) == 0);
  }
  pthread_barrier_wait(&all_open);
  pair_barrier(&pair);
  pthread_barrier_wait(&all_open);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(workers[i].thread, NULL) == 0);
  pair_barrier(&pair);
  for (int i = 0; i < THREADS; i++) CHECK_MX(mx_close_endpoint(workers[i].pair.endpoint));
  pair_close(&pair);
  pthread_barrier_destroy(&all_open);
  return 0;
}
