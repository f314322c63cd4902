/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the pointer that belongs to an address. It is NULL at first, and the same for all addresses of a
 * peer, whether they come from a connect, a status or the handler. Peers and endpoints have separate
 * pointers. A second connect keeps a pointer, and a disconnect clears it. */
#include "pair.h"

#include <stdatomic.h>

static int other_mark, own_mark, later_mark;
static struct {
  void* context;
  atomic_int called; /* the progress thread may call the handler */
} handled;

static void* context_of(mx_endpoint_addr_t address) {
  void* context = &handled;
  CHECK_MX(mx_get_endpoint_addr_context(address, &context));
  return context;
}

static mx_endpoint_addr_t connect_again(struct pair* pair) {
  mx_endpoint_addr_t address;
  uint64_t nic;
  uint32_t id;
  CHECK_MX(mx_decompose_endpoint_addr(pair->other, &nic, &id));
  CHECK_MX(mx_connect(pair->endpoint, nic, id, PAIR_KEY, PAIR_TIMEOUT_MS, &address));
  return address;
}

static mx_unexp_handler_action_t handler(void* context, mx_endpoint_addr_t source, uint64_t match_info,
                                         uint32_t length, void* data) {
  (void)length, (void)data;
  if (match_info != 9) return MX_RECV_CONTINUE;
  *(void**)context = context_of(source);
  handled.called = 1;
  return MX_RECV_FINISHED;
}

int main(int argc, char** argv) {
  struct pair pair = pair_open(argc, argv);
  const int alone = pair.is_sender && pair.is_receiver;
  mx_endpoint_addr_t own;
  char byte = 1;
  CHECK_MX(mx_get_endpoint_addr(pair.endpoint, &own));
  CHECK(context_of(own) == NULL && context_of(pair.other) == NULL);

  CHECK_MX(mx_set_endpoint_addr_context(pair.other, &other_mark));
  CHECK(context_of(own) == (alone ? &other_mark : NULL)); /* alone, both addresses are the same peer */
  if (!alone) {
    CHECK_MX(mx_set_endpoint_addr_context(own, &own_mark));
    CHECK(context_of(own) == &own_mark && context_of(pair.other) == &other_mark);
  }
  CHECK(context_of(connect_again(&pair)) == &other_mark);

  mx_request_t receive = pair_receive(&pair, &byte, 1, 1);
  mx_status_t sent = pair_finish(&pair, pair_send(&pair, &byte, 1, 1));
  CHECK(context_of(sent.source) == &other_mark);
  CHECK(context_of(pair_finish(&pair, receive).source) == &other_mark);

  CHECK_MX(mx_register_unexp_handler(pair.endpoint, handler, &handled.context));
  pair_barrier(&pair);
  pair_finish(&pair, pair_send(&pair, &byte, 1, 9));
  while (!handled.called) CHECK_MX(mx_progress(pair.endpoint));
  CHECK(handled.context == &other_mark);
  CHECK_MX(mx_register_unexp_handler(pair.endpoint, NULL, NULL));

  CHECK_MX(mx_set_endpoint_addr_context(pair.other, &later_mark));
  CHECK(context_of(pair.other) == &later_mark);
  CHECK_MX(mx_set_endpoint_addr_context(pair.other, NULL));
  CHECK(context_of(pair.other) == NULL);

  /* Another endpoint of this process has its own pointer for the same peer. */
  mx_endpoint_t second;
  CHECK_MX(mx_set_endpoint_addr_context(pair.other, &other_mark));
  CHECK_MX(mx_open_endpoint(MX_ANY_NIC, MX_ANY_ENDPOINT, PAIR_KEY, NULL, 0, &second));
  struct pair beside = {second, pair.other, 0, 0, NULL};
  beside.other = connect_again(&(struct pair){second, pair.other, 0, 0, NULL});
  CHECK(context_of(beside.other) == NULL);
  CHECK_MX(mx_set_endpoint_addr_context(beside.other, &later_mark));
  CHECK(context_of(pair.other) == &other_mark && context_of(beside.other) == &later_mark);
  CHECK_MX(mx_disconnect(second, beside.other));
  CHECK(context_of(connect_again(&beside)) == NULL);
  CHECK(context_of(pair.other) == &other_mark);
  pair_barrier(&pair);
  CHECK_MX(mx_close_endpoint(second));
  pair_close(&pair);
  return 0;
}
