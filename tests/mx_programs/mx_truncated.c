/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends messages into buffers that are too short. The status says so, the call succeeds, and no byte behind
 * the buffer changes. The connection works as before. */
#include "pair.h"

static void exchange(struct pair* pair, uint32_t length, uint32_t room, int early, unsigned round) {
  unsigned char* data = memory(length);
  if (pair->is_sender) {
    pattern_fill(data, length, round);
    mx_status_t status = pair_wait(pair, pair_send(pair, data, length, round));
    CHECK(status.code == MX_STATUS_SUCCESS || status.code == MX_STATUS_TRUNCATED);
  } else {
    uint32_t found = 0;
    memset(data, 0x5a, length);
    if (early) CHECK_MX(mx_probe(pair->endpoint, PAIR_TIMEOUT_MS, round, MX_MATCH_MASK_NONE, NULL, &found));
    mx_status_t status = pair_wait(pair, pair_receive(pair, data, room, round));
    CHECK(status.code == MX_STATUS_TRUNCATED);
    CHECK(status.msg_length == length && status.xfer_length == room);
    pattern_check(data, room, round);
    for (uint32_t i = room; i < length; i++) CHECK(data[i] == 0x5a);
  }
  pair_barrier(pair);
  free(data);
}

int main(int argc, char** argv) {
  static const uint32_t lengths[] = {10, 120, 1000, 20000, 32768, 1 << 20};
  struct pair pair = pair_open(argc, argv);
  unsigned round = 0;
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
    for (int early = 0; early < 2; early++) {
      exchange(&pair, lengths[i], 0, early, ++round);
      exchange(&pair, lengths[i], lengths[i] / 2, early, ++round);
      exchange(&pair, lengths[i], lengths[i] - 1, early, ++round);
    }
  pair_close(&pair);
  return 0;
}
