/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several processes send to one endpoint, on which several threads wait for any request. Every message must
 * complete exactly once, in one of the threads. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum { SENDERS = 3, MESSAGES = 1000, THREADS = 5, POSTED = 16, TOTAL = SENDERS * MESSAGES };
#define MATCH_MESSAGE (1ULL << 40)
#define MATCH_STOP (2ULL << 40)
#define KIND_BITS (0xffULL << 40)

static struct pair receiver;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned posted, done, ended[SENDERS][MESSAGES];

static void post(void) {
  mx_request_t request;
  CHECK_MX(mx_irecv(receiver.endpoint, NULL, 0, MATCH_MESSAGE, KIND_BITS, &posted, &request));
}

/* Counts a message. Returns whether it was the last. */
static int count(mx_status_t status) {
  const unsigned sender = (unsigned)(status.match_info >> 32 & 0xff);
  const unsigned number = (unsigned)(status.match_info & 0xffff);
  CHECK(status.context == &posted && status.msg_length == 0);
  CHECK(sender < SENDERS && number < MESSAGES);
  pthread_mutex_lock(&mutex);
  CHECK(ended[sender][number]++ == 0);
  const int last = ++done == TOTAL;
  const int more = posted < TOTAL;
  posted += (unsigned)more;
  pthread_mutex_unlock(&mutex);
  if (more) post();
  return last;
}

static void* wait_thread(void* unused) {
  (void)unused;
  for (;;) {
    mx_status_t status;
    uint32_t result = 0;
    CHECK_MX(mx_wait_any(receiver.endpoint, PAIR_TIMEOUT_MS, 0, 0, &status, &result));
    CHECK(result == 1 && status.code == MX_STATUS_SUCCESS);
    if ((status.match_info & KIND_BITS) == MATCH_STOP) return NULL; /* there is one for each thread */
    if (!count(status)) continue;
    for (int i = 0; i < THREADS; i++)
      CHECK_MX(mx_isend(receiver.endpoint, NULL, 0, receiver.other, MATCH_STOP, NULL, NULL));
  }
}

static void receive(int argc, char** argv) {
  pthread_t threads[THREADS];
  uint32_t result = 77;
  receiver = pair_start(argc, argv);
  CHECK_MX(mx_get_endpoint_addr(receiver.endpoint, &receiver.other));
  for (int i = 0; i < THREADS; i++) pair_receive(&receiver, NULL, 0, MATCH_STOP);
  for (; posted < POSTED; posted++) post();
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, wait_thread, NULL) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(done == TOTAL);
  CHECK_MX(mx_test_any(receiver.endpoint, 0, 0, NULL, &result));
  CHECK(result == 0);
  pair_end(&receiver);
}

/* Sends as fast as possible. The last message is synchronous, so it completes when all have been matched. */
static void send(int argc, char** argv, unsigned sender) {
  struct pair pair = pair_start(argc, argv);
  mx_request_t requests[MESSAGES];
  pair.other = pair_connect(pair.endpoint, pair.other_name);
  for (unsigned i = 0; i < MESSAGES; i++) {
    const uint64_t match_info = MATCH_MESSAGE | (uint64_t)sender << 32 | i;
    if (i + 1 < MESSAGES)
      CHECK_MX(mx_isend(pair.endpoint, NULL, 0, pair.other, match_info, NULL, &requests[i]));
    else
      CHECK_MX(mx_issend(pair.endpoint, NULL, 0, pair.other, match_info, NULL, &requests[i]));
  }
  for (unsigned i = 0; i < MESSAGES; i++) pair_finish(&pair, requests[i]);
  pair_end(&pair);
}

int main(int argc, char** argv) {
  pid_t children[SENDERS];
  if (argc == 1) {
    receive(argc, argv);
    return 0;
  }
  for (unsigned i = 0; i < SENDERS; i++) {
    children[i] = fork();
    CHECK(children[i] >= 0);
    if (children[i] == 0) {
      send(argc, argv, i);
      return 0;
    }
  }
  int failed = 0;
  for (int i = 0; i < SENDERS; i++) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i]);
    failed |= status;
  }
  return failed != 0;
}
