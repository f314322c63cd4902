/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Uses the native interface: two processes, or one, find each other, connect, exchange buffers and segments,
 * and examine requests in every possible way. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "open-mx.h"
#include "pair.h" /* for patterns and checks; the rest of pair.h is MX */

enum { RECEIVER = 6, KEY = 0x0a71, TIMEOUT_MS = 20000, LOOKUPS = 100, LARGE = 300000 };
#define CHECK_OMX(call) CHECK((call) == OMX_SUCCESS)
#define ALL (~0ULL)

static omx_endpoint_t ep;
static omx_endpoint_addr_t own, other;
static int alone;

static omx_status_t finish(omx_request_t request) {
  omx_status_t status;
  uint32_t result = 0;
  CHECK_OMX(omx_wait(ep, &request, &status, &result, TIMEOUT_MS));
  CHECK(result == 1 && request == 0 && status.code == OMX_SUCCESS);
  return status;
}

static omx_request_t receive(void* data, size_t length, uint64_t match_info) {
  omx_request_t request;
  CHECK_OMX(omx_irecv(ep, data, length, match_info, ALL, data, &request));
  return request;
}

static void barrier(void) {
  static uint64_t barriers = PAIR_MATCH_BARRIER;
  omx_request_t sent, received = receive(NULL, 0, ++barriers);
  CHECK_OMX(omx_isend(ep, NULL, 0, other, barriers, NULL, &sent));
  finish(sent);
  finish(received);
}

static void connect_by_name(char* name) {
  uint64_t nic = 0;
  omx_return_t code = OMX_TIMEOUT;
  for (int i = 0; i < LOOKUPS && omx_hostname_to_nic_id(name, &nic) != OMX_SUCCESS; i++)
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  for (int i = 0; i < LOOKUPS && (code == OMX_TIMEOUT || code == OMX_REMOTE_ENDPOINT_CLOSED); i++) {
    if (i > 0) nanosleep(&(struct timespec){0, 20000000}, NULL);
    code = omx_connect(ep, nic, RECEIVER, KEY, 1000, &other);
  }
  CHECK(code == OMX_SUCCESS);
  CHECK(omx_connect(ep, nic, RECEIVER, KEY + 1, TIMEOUT_MS, &own) == OMX_REMOTE_ENDPOINT_BAD_KEY);
}

static void meet(char* name) {
  omx_request_t request;
  if (alone) {
    CHECK_OMX(omx_get_endpoint_addr(ep, &other));
  } else if (name) {
    connect_by_name(name);
    CHECK_OMX(omx_issend(ep, NULL, 0, other, 1, NULL, &request));
    finish(request);
  } else { /* connect back without waiting */
    uint64_t nic;
    uint32_t id, result = 0;
    omx_status_t status;
    CHECK_OMX(omx_decompose_endpoint_addr(finish(receive(NULL, 0, 1)).addr, &nic, &id));
    CHECK_OMX(omx_iconnect(ep, nic, id, KEY, 2, &alone, NULL));
    CHECK_OMX(omx_iconnect(ep, nic, id, KEY, 3, &alone, &request));
    CHECK_OMX(omx_wait_any(ep, 3, ALL, &status, &result, TIMEOUT_MS));
    CHECK(result == 1 && status.code == OMX_SUCCESS && status.context == &alone);
    other = status.addr;
  }
  CHECK_OMX(omx_get_endpoint_addr(ep, &own));
}

static void names(void) {
  char name[OMX_HOSTNAMELEN_MAX];
  uint64_t nic, again;
  uint32_t id, id_again, session = 0, board = 77;
  CHECK_OMX(omx_decompose_endpoint_addr(own, &nic, &id));
  CHECK_OMX(omx_nic_id_to_board_number(nic, &board));
  CHECK_OMX(omx_board_number_to_nic_id(board, &again));
  CHECK(again == nic);
  CHECK_OMX(omx_nic_id_to_hostname(nic, name));
  CHECK_OMX(omx_hostname_to_nic_id(name, &again));
  CHECK(again == nic);
  CHECK_OMX(omx_decompose_endpoint_addr_with_session(other, &again, &id_again, &session));
  CHECK(alone ? id_again == id : again != nic || id_again != id);
  void* context = &alone;
  CHECK_OMX(omx_get_endpoint_addr_context(other, &context));
  CHECK(context == NULL);
  CHECK_OMX(omx_set_endpoint_addr_context(other, &other));
  CHECK_OMX(omx_get_endpoint_addr_context(other, &context));
  CHECK(context == &other);
}

/* Exchanges messages between send segments and receive segments, synchronously or not. */
static void messages(size_t length, int synchronous, uint64_t match_info) {
  unsigned char* out = memory(length);
  unsigned char* in = memory(length);
  const uint32_t part = (uint32_t)length / 3, rest = (uint32_t)length - part;
  omx_seg_t from[] = {{out, part}, {out + part, rest}}, to[] = {{in, rest}, {in + rest, part}};
  omx_request_t sent, received;
  void* context = NULL;
  uint32_t result = 77;
  pattern_fill(out, length, (unsigned)match_info);
  CHECK_OMX(omx_irecvv(ep, to, 2, match_info, ALL, in, &received));
  CHECK_OMX(omx_context(&received, &context));
  CHECK(context == in);
  CHECK(omx_ibuffered(ep, &received, &result) == OMX_BAD_REQUEST);
  CHECK_OMX((synchronous ? omx_issendv : omx_isendv)(ep, from, 2, other, match_info, out, &sent));
  CHECK_OMX(omx_set_request_timeout(ep, sent, TIMEOUT_MS));
  const omx_status_t status = finish(received);
  CHECK(status.msg_length == length && status.xfer_length == length && status.context == in);
  pattern_check(in, length, (unsigned)match_info);
  finish(sent);
  barrier();
  free(out);
  free(in);
}

static void unexpected(void) {
  unsigned char out = 5, in = 0;
  uint32_t result = 77;
  omx_request_t request, found = 0;
  omx_status_t status;
  CHECK_OMX(omx_isend(ep, &out, 1, other, 50, NULL, &request));
  for (result = 0; !result;) {
    CHECK_OMX(omx_progress(ep));
    CHECK_OMX(omx_iprobe(ep, 50, ALL, &status, &result));
  }
  CHECK(status.msg_length == 1);
  CHECK_OMX(omx_iprobe(ep, 51, ALL, &status, &result));
  CHECK(result == 0);
  CHECK_OMX(omx_forget(ep, &request));
  request = receive(&in, 1, 50);
  for (result = 0; !result;) CHECK_OMX(omx_ipeek(ep, &found, &result));
  CHECK(found == request);
  CHECK_OMX(omx_test(ep, &request, &status, &result));
  CHECK(result == 1 && request == 0 && in == 5);
  barrier();
}

/* Cancels requests: a request is then gone or done, as requested. */
static void cancelling(void) {
  uint32_t result = 77;
  omx_status_t status;
  omx_request_t gone = receive(&status, sizeof status, 60), first = receive(NULL, 0, 61),
                second = receive(NULL, 0, 61);
  CHECK_OMX(omx_cancel(ep, &gone, &result));
  CHECK(result == 1 && gone == 0);
  CHECK_OMX(omx_cancel_notest(ep, &first, &result));
  CHECK(result == 1);
  CHECK_OMX(omx_cancel_notest(ep, &second, &result));
  CHECK(result == 1);
  for (int i = 0; i < 2; i++) {
    CHECK_OMX(omx_test_any(ep, 61, ALL, &status, &result));
    CHECK(result == 1 && status.code == OMX_CANCELLED);
  }
  CHECK_OMX(omx_test_any(ep, 0, 0, &status, &result));
  CHECK(result == 0);
}

static void* probe_until_woken(void* unused) {
  uint32_t result = 77;
  (void)unused;
  CHECK_OMX(omx_probe(ep, 0xdead, ALL, NULL, &result, OMX_TIMEOUT_INFINITE));
  CHECK(result == 0);
  return NULL;
}

static void* wake(void* done) {
  /* Wakes repeatedly, because the other thread may not be waiting yet. */
  while (!__atomic_load_n((int*)done, __ATOMIC_ACQUIRE)) {
    CHECK_OMX(omx_wakeup(ep));
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return NULL;
}

static void waiting(void) {
  pthread_t sleeper, waker;
  int done = 0;
  uint32_t result = 77;
  omx_request_t found;
  CHECK(pthread_create(&sleeper, NULL, probe_until_woken, NULL) == 0);
  CHECK(pthread_create(&waker, NULL, wake, &done) == 0);
  CHECK(pthread_join(sleeper, NULL) == 0);
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  CHECK(pthread_join(waker, NULL) == 0);
  CHECK_OMX(omx_peek(ep, &found, &result, 0)); /* with 0 the call polls once */
  CHECK(result == 0);
}

static atomic_int handled; /* the progress thread may call the handler */

static omx_unexp_handler_action_t handler(void* context, omx_endpoint_addr_t source, uint64_t match_info,
                                          uint32_t length, void* data) {
  (void)source, (void)length;
  if (match_info != 70) return OMX_UNEXP_HANDLER_RECV_CONTINUE;
  CHECK(context == &own && *(char*)data == 9);
  handled++;
  return OMX_UNEXP_HANDLER_RECV_FINISHED;
}

static void handling(void) {
  char nine = 9;
  omx_request_t request;
  CHECK_OMX(omx_register_unexp_handler(ep, handler, &own));
  barrier();
  CHECK_OMX(omx_disable_progression(ep));
  CHECK_OMX(omx_isend(ep, &nine, 1, other, 70, NULL, &request));
  const int before = handled; /* the other side's message may have arrived already */
  nanosleep(&(struct timespec){0, 5000000}, NULL);
  CHECK(handled == before);
  CHECK_OMX(omx_reenable_progression(ep));
  finish(request);
  while (!handled) CHECK_OMX(omx_progress(ep));
  barrier();
  CHECK(handled == 1);
  CHECK_OMX(omx_register_unexp_handler(ep, NULL, NULL));
}

/* Disconnects. Operations pending with that peer end. The faster side may have closed its endpoint by then.
 */
static void forgetting(void) {
  omx_request_t request;
  omx_status_t status;
  uint32_t result = 0;
  barrier();
  CHECK_OMX(omx_issend(ep, NULL, 0, other, 80, NULL, &request));
  CHECK_OMX(omx_disconnect(ep, other));
  CHECK_OMX(omx_wait(ep, &request, &status, &result, TIMEOUT_MS));
  CHECK(result == 1);
  CHECK(status.code == OMX_REMOTE_ENDPOINT_UNREACHABLE || status.code == OMX_REMOTE_ENDPOINT_CLOSED);
}

int main(int argc, char** argv) {
  static const size_t lengths[] = {0, 1, 100, 5000, LARGE};
  alone = argc > 1 && strcmp(argv[1], "self") == 0;
  omx_set_error_handler(NULL, OMX_ERRORS_RETURN);
  CHECK(omx__init_api(OMX_API + 0x100) == OMX_BAD_LIB_VERSION);
  CHECK_OMX(omx_init());
  CHECK_OMX(omx_open_endpoint(OMX_ANY_NIC, argc > 1 ? OMX_ANY_ENDPOINT : RECEIVER, KEY, NULL, 0, &ep));
  meet(argc > 1 ? argv[1] : NULL);
  barrier();
  names();
  for (unsigned i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++)
    messages(lengths[i / 2], i % 2, 10 + i);
  unexpected();
  cancelling();
  waiting();
  handling();
  if (!alone) forgetting();
  CHECK_OMX(omx_close_endpoint(ep));
  CHECK_OMX(omx_finalize());
  printf("%s: right\n", alone ? "self" : argc > 1 ? "sender" : "receiver");
  return 0;
}
