/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Twelve threads wait on one endpoint, two in each possible way, for events that never happen. One mx_wakeup
 * must end all waits, and the endpoint must work afterwards. */
#include <pthread.h>
#include <time.h>

#include "pair.h"

enum { WAYS = 6, THREADS = 2 * WAYS };
#define NEVER 0xdead

static struct pair pair;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int waiting, returned;

static void count(int* counter) {
  pthread_mutex_lock(&mutex);
  ++*counter;
  pthread_mutex_unlock(&mutex);
}

static int counted(const int* counter) {
  pthread_mutex_lock(&mutex);
  const int value = *counter;
  pthread_mutex_unlock(&mutex);
  return value;
}

static void* wait_thread(void* argument) {
  const int way = *(int*)argument;
  const uint64_t nobody = 0x020000000001ULL;
  mx_request_t request = 0, found;
  mx_endpoint_addr_t address;
  mx_status_t status;
  uint32_t result = 77;
  static unsigned char
      byte; /* static, because the forgotten send is received after this function has returned */
  mx_segment_t segment = {&byte, 1};
  count(&waiting);
  switch (way) {
    case 0: /* no message comes */
      request = pair_receive(&pair, &byte, 1, NEVER);
      CHECK_MX(mx_wait(pair.endpoint, &request, MX_INFINITE, &status, &result));
      break;
    case 1: /* no receive matches it */
      CHECK_MX(mx_issend(pair.endpoint, &segment, 1, pair.other, NEVER, NULL, &request));
      CHECK_MX(mx_wait(pair.endpoint, &request, MX_INFINITE, &status, &result));
      break;
    case 2:
      CHECK_MX(mx_probe(pair.endpoint, MX_INFINITE, NEVER, MX_MATCH_MASK_NONE, &status, &result));
      break;
    case 3:
      CHECK_MX(mx_peek(pair.endpoint, MX_INFINITE, &found, &result));
      break;
    case 4:
      CHECK_MX(mx_iconnect(pair.endpoint, nobody, 1, PAIR_KEY, NEVER, NULL, &request));
      CHECK_MX(mx_wait(pair.endpoint, &request, MX_INFINITE, &status, &result));
      break;
    default:
      CHECK(mx_connect(pair.endpoint, nobody, 1, PAIR_KEY, MX_INFINITE, &address) == MX_TIMEOUT);
      result = 0;
  }
  CHECK(result == 0);
  if (request) CHECK_MX(mx_forget(pair.endpoint, &request));
  count(&returned);
  return NULL;
}

int main(int argc, char** argv) {
  pair = pair_open(argc, argv);
  if (pair.is_sender) {
    pthread_t threads[THREADS];
    int ways[THREADS];
    for (int i = 0; i < THREADS; i++) {
      ways[i] = i % WAYS;
      CHECK(pthread_create(&threads[i], NULL, wait_thread, &ways[i]) == 0);
    }
    while (counted(&waiting) < THREADS) nanosleep(&(struct timespec){0, 1000000}, NULL);
    nanosleep(&(struct timespec){1, 0}, NULL);
    CHECK(counted(&returned) == 0);
    CHECK_MX(mx_wakeup(pair.endpoint));
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counted(&returned) == THREADS);
  }
  pair_barrier(&pair);
  if (!pair.is_sender) { /* completes the two synchronous sends */
    unsigned char byte;
    for (int i = 0; i < 2; i++) pair_finish(&pair, pair_receive(&pair, &byte, 1, NEVER));
  }
  pair_close(&pair);
  return 0;
}
