/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Maps and unmaps memory between messages: each iteration unmaps its buffers and maps others, mostly at the
 * same addresses. That would fool a cache of registrations. Four sends at a time leave one buffer.
 * Completions are collected by waiting, peeking and testing. */
#include <sys/mman.h>

#include "mx_internals/mx__driver_interface.h"
#include "pair.h"

enum { PARALLEL = 4, ITERATIONS = 24, LARGEST = 3 << 20 };

static unsigned char* map(size_t length, void* at) {
  void* data =
      mmap(at, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
  CHECK(data != MAP_FAILED);
  return data;
}

/* Unmaps memory as Open MPI's hooks see it. */
static void unmap(unsigned char* data, size_t length) {
  CHECK(mx__regcache_clean(data, length) == 0);
  CHECK(munmap(data, length) == 0);
}

static void done_check(mx_status_t status, uint32_t length) {
  CHECK(status.code == MX_STATUS_SUCCESS && status.msg_length == length && status.xfer_length == length);
}

/* Finds all completed requests one by one. Each must be one of ours. */
static void collect_by_peeking(struct pair* pair, mx_request_t* requests, uint32_t length) {
  for (int done = 0; done < PARALLEL; done++) {
    mx_request_t request = 0;
    mx_status_t status;
    uint32_t result = 0;
    int i = 0;
    CHECK_MX(mx_peek(pair->endpoint, PAIR_TIMEOUT_MS, &request, &result));
    CHECK(result == 1);
    while (i < PARALLEL && requests[i] != request) i++;
    CHECK(i < PARALLEL);
    CHECK_MX(mx_test(pair->endpoint, &requests[i], &status, &result));
    CHECK(result == 1 && requests[i] == 0);
    done_check(status, length);
  }
}

static void collect_by_testing(struct pair* pair, mx_request_t* requests, uint32_t length) {
  for (int done = 0; done < PARALLEL;) {
    for (int i = 0; i < PARALLEL; i++) {
      mx_status_t status;
      uint32_t result = 0;
      if (!requests[i]) continue;
      CHECK_MX(mx_test(pair->endpoint, &requests[i], &status, &result));
      if (!result) continue;
      done_check(status, length);
      done++;
    }
  }
}

static void collect(struct pair* pair, mx_request_t* requests, uint32_t length, unsigned how) {
  if (how == 0) collect_by_peeking(pair, requests, length);
  if (how == 1) collect_by_testing(pair, requests, length);
  for (int i = 0; how == 2 && i < PARALLEL; i++) done_check(pair_finish(pair, requests[i]), length);
}

static unsigned char* receive_buffers(struct pair* pair, unsigned char* at, uint32_t length,
                                      mx_request_t* requests) {
  unsigned char* data = map((size_t)PARALLEL * LARGEST, at);
  for (int i = 0; i < PARALLEL; i++) requests[i] = pair_receive(pair, data + (size_t)i * LARGEST, length, 1);
  return data;
}

int main(int argc, char** argv) {
  static const uint32_t lengths[] = {5000, 100000, 1 << 20, LARGEST};
  struct pair pair = pair_open(argc, argv);
  const int alone = pair.is_sender && pair.is_receiver;
  void *out_at = NULL, *in_at = NULL;
  for (unsigned i = 0; i < ITERATIONS; i++) {
    const uint32_t length = lengths[i % 4];
    mx_request_t sends[PARALLEL], receives[PARALLEL];
    unsigned char *out = NULL, *in = NULL;
    if (pair.is_receiver) in = receive_buffers(&pair, i % 6 ? in_at : NULL, length, receives);
    pair_barrier(&pair);
    if (pair.is_sender) {
      out = map(LARGEST, i % 6 ? out_at : NULL);
      pattern_fill(out, length, i);
      for (int s = 0; s < PARALLEL; s++) sends[s] = pair_send(&pair, out, length, 1);
      /* Peeking would also find the receives if sender and receiver are the same. */
      collect(&pair, sends, length, alone ? 1 + i % 2 : i % 3);
      out_at = out;
      unmap(out, LARGEST);
    }
    if (pair.is_receiver) {
      collect(&pair, receives, length, i % 3);
      for (int r = 0; r < PARALLEL; r++) pattern_check(in + (size_t)r * LARGEST, length, i);
      in_at = in;
      unmap(in, (size_t)PARALLEL * LARGEST);
    }
    pair_barrier(&pair);
  }
  pair_close(&pair);
  return 0;
}
