/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends messages from an endpoint to itself, to another endpoint of the same thread and back, four at a time.
 * Checks every byte of them and of their surroundings. */
#include "pair.h"

enum { PARALLEL = 4, GUARD = 16, GUARD_BYTE = 0x3c };

struct way {
  struct pair from, to;
};

static void exchange(struct way* way, uint32_t length, unsigned iteration) {
  unsigned char* sent = memory(length);
  unsigned char* received[PARALLEL];
  mx_request_t sends[PARALLEL], receives[PARALLEL];
  pattern_fill(sent, length, iteration);
  for (unsigned i = 0; i < PARALLEL; i++) {
    received[i] = memory(length + 2 * GUARD);
    memset(received[i], GUARD_BYTE, length + 2 * GUARD);
    if (i % 2) receives[i] = pair_receive(&way->to, received[i] + GUARD, length, i);
  }
  for (unsigned i = 0; i < PARALLEL; i++) sends[i] = pair_send(&way->from, sent, length, i);
  for (unsigned i = 0; i < PARALLEL; i += 2)
    receives[i] = pair_receive(&way->to, received[i] + GUARD, length, i);
  for (unsigned i = 0; i < PARALLEL; i++) {
    /* The receiving endpoint is driven first: a large message completes when both endpoints have made
     * progress. */
    const mx_status_t status = pair_finish(&way->to, receives[i]);
    CHECK(status.msg_length == length && status.xfer_length == length);
    pair_finish(&way->from, sends[i]);
    pattern_check(received[i] + GUARD, length, iteration);
    for (int g = 0; g < GUARD; g++)
      CHECK(received[i][g] == GUARD_BYTE && received[i][GUARD + length + (uint32_t)g] == GUARD_BYTE);
    free(received[i]);
  }
  free(sent);
}

static mx_endpoint_addr_t connect_to(mx_endpoint_t from, mx_endpoint_t to) {
  mx_endpoint_addr_t address;
  uint64_t nic;
  uint32_t id;
  CHECK_MX(mx_get_endpoint_addr(to, &address));
  CHECK_MX(mx_decompose_endpoint_addr(address, &nic, &id));
  CHECK_MX(mx_connect(from, nic, id, PAIR_KEY, PAIR_TIMEOUT_MS, &address));
  return address;
}

int main(int argc, char** argv) {
  static const uint32_t lengths[] = {0, 13, 95, 13274, 9327485};
  struct pair self = pair_open(argc, argv);
  mx_endpoint_t second;
  CHECK(self.is_sender && self.is_receiver); /* the program runs with "self" only */
  CHECK_MX(mx_open_endpoint(MX_ANY_NIC, MX_ANY_ENDPOINT, PAIR_KEY, NULL, 0, &second));
  const struct pair there = {self.endpoint, connect_to(self.endpoint, second), 1, 0, NULL};
  const struct pair back = {second, connect_to(second, self.endpoint), 1, 0, NULL};
  struct way ways[] = {{self, self}, {there, back}, {back, there}};
  for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
      for (unsigned iteration = 0; iteration < (lengths[i] < 100000 ? 10 : 2); iteration++)
        exchange(&ways[w], lengths[i], iteration);
  /* An endpoint need not connect to itself, but may. */
  self.other = connect_to(self.endpoint, self.endpoint);
  exchange(&(struct way){self, self}, 5000, 0);
  CHECK_MX(mx_close_endpoint(second));
  pair_close(&self);
  return 0;
}
