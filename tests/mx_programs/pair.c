/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <time.h>

enum { RECEIVER_ENDPOINT = 4, LOOKUPS = 20 };

static uint64_t barriers;

void pair_fail(const char* file, int line, const char* what) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  exit(1);
}

void* memory(size_t length) {
  void* data = malloc(length ? length : 1);
  CHECK(data);
  return data;
}

unsigned random_next(unsigned* state) {
  *state = *state * 1103515245U + 12345U;
  return *state >> 8;
}

static unsigned char pattern_byte(size_t i, unsigned seed) {
  return (unsigned char)((i * 2654435761U + seed * 40503U) >> 11);
}

void pattern_fill(unsigned char* data, size_t length, unsigned seed) {
  for (size_t i = 0; i < length; i++) data[i] = pattern_byte(i, seed);
}

void pattern_check(const unsigned char* data, size_t length, unsigned seed) {
  for (size_t i = 0; i < length; i++) {
    if (data[i] == pattern_byte(i, seed)) continue;
    fprintf(stderr, "byte %zu of %zu is wrong: ", i, length);
    pair_fail(__FILE__, __LINE__, "contents");
  }
}

mx_request_t pair_send(struct pair* pair, void* data, uint32_t length, uint64_t match_info) {
  mx_segment_t segment = {data, length};
  mx_request_t request;
  CHECK_MX(mx_isend(pair->endpoint, &segment, 1, pair->other, match_info, NULL, &request));
  return request;
}

mx_request_t pair_receive(struct pair* pair, void* data, uint32_t length, uint64_t match_info) {
  mx_segment_t segment = {data, length};
  mx_request_t request;
  CHECK_MX(mx_irecv(pair->endpoint, &segment, 1, match_info, MX_MATCH_MASK_NONE, NULL, &request));
  return request;
}

mx_status_t pair_wait(struct pair* pair, mx_request_t request) {
  mx_status_t status;
  uint32_t result = 0;
  CHECK_MX(mx_wait(pair->endpoint, &request, PAIR_TIMEOUT_MS, &status, &result));
  CHECK(result == 1);
  CHECK(request == 0);
  return status;
}

mx_status_t pair_finish(struct pair* pair, mx_request_t request) {
  mx_status_t status = pair_wait(pair, request);
  if (status.code != MX_STATUS_SUCCESS) {
    fprintf(stderr, "%s: ", mx_strstatus(status.code));
    pair_fail(__FILE__, __LINE__, "completion");
  }
  return status;
}

/* Looks up a name repeatedly: the receiver answers for its name only when it has started. */
static uint64_t look_up(char* name) {
  uint64_t nic = 0;
  for (int i = 0; i < LOOKUPS; i++) {
    if (mx_hostname_to_nic_id(name, &nic) == MX_SUCCESS) return nic;
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  pair_fail(__FILE__, __LINE__, name);
  return 0;
}

mx_endpoint_addr_t pair_connect(mx_endpoint_t endpoint, char* host) {
  const uint64_t nic = look_up(host);
  mx_endpoint_addr_t address;
  mx_return_t code = MX_TIMEOUT;
  /* Connects repeatedly, as Open MPI does. CONNECTION_FAILED means that the host is up and the endpoint is
   * not. */
  for (int i = 0; i < LOOKUPS && (code == MX_TIMEOUT || code == MX_CONNECTION_FAILED); i++) {
    if (code == MX_CONNECTION_FAILED) nanosleep(&(struct timespec){0, 100000000}, NULL);
    code = mx_connect(endpoint, nic, RECEIVER_ENDPOINT, PAIR_KEY, 1000, &address);
  }
  CHECK_MX(code);
  return address;
}

struct pair pair_start(int argc, char** argv) {
  struct pair pair;
  memset(&pair, 0, sizeof pair);
  const int alone = argc > 1 && strcmp(argv[1], "self") == 0;
  pair.is_sender = argc > 1;
  pair.is_receiver = argc == 1 || alone;
  pair.other_name = pair.is_sender && !alone ? argv[1] : NULL;
  mx_set_error_handler(MX_ERRORS_RETURN);
  CHECK_MX(mx_init());
  CHECK_MX(mx_open_endpoint(MX_ANY_NIC, pair.is_receiver ? RECEIVER_ENDPOINT : MX_ANY_ENDPOINT, PAIR_KEY,
                            NULL, 0, &pair.endpoint));
  return pair;
}

struct pair pair_open(int argc, char** argv) {
  struct pair pair = pair_start(argc, argv);
  if (pair.is_sender && pair.is_receiver) {
    CHECK_MX(mx_get_endpoint_addr(pair.endpoint, &pair.other));
  } else if (pair.is_sender) {
    pair.other = pair_connect(pair.endpoint, pair.other_name);
    pair_finish(&pair, pair_send(&pair, NULL, 0, PAIR_MATCH_BARRIER));
  } else {
    pair.other = pair_finish(&pair, pair_receive(&pair, NULL, 0, PAIR_MATCH_BARRIER)).source;
    /* Connects back, as MX programs do. */
    uint64_t nic;
    uint32_t id;
    CHECK_MX(mx_decompose_endpoint_addr(pair.other, &nic, &id));
    CHECK_MX(mx_connect(pair.endpoint, nic, id, PAIR_KEY, PAIR_TIMEOUT_MS, &pair.other));
  }
  pair_barrier(&pair);
  return pair;
}

void pair_barrier(struct pair* pair) {
  const uint64_t match_info = PAIR_MATCH_BARRIER + ++barriers;
  mx_request_t receive = pair_receive(pair, NULL, 0, match_info);
  pair_finish(pair, pair_send(pair, NULL, 0, match_info));
  pair_finish(pair, receive);
}

void pair_end(struct pair* pair) {
  CHECK_MX(mx_close_endpoint(pair->endpoint));
  CHECK_MX(mx_finalize());
  printf("%s: right\n", !pair->is_sender ? "receiver" : pair->is_receiver ? "self" : "sender");
}

void pair_close(struct pair* pair) {
  pair_barrier(pair);
  pair_end(pair);
}
