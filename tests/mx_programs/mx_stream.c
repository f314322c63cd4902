/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams messages with 16 requests in flight, first in one direction and then in both at once. All match the
 * same receives, so they must arrive in order. */
#include "pair.h"

enum { IN_FLIGHT = 16 };
#define TAG_BITS 0xffffffff00000000ULL

struct window {
  unsigned char* data[IN_FLIGHT];
  mx_request_t requests[IN_FLIGHT];
};

static void receive_post(struct pair* pair, struct window* in, unsigned i, uint32_t length, uint64_t tag) {
  mx_segment_t segment = {in->data[i % IN_FLIGHT], length};
  CHECK_MX(mx_irecv(pair->endpoint, &segment, 1, tag, TAG_BITS, NULL, &in->requests[i % IN_FLIGHT]));
}

static void receive_finish(struct pair* pair, struct window* in, unsigned i, uint32_t length, uint64_t tag) {
  mx_status_t status = pair_finish(pair, in->requests[i % IN_FLIGHT]);
  CHECK(status.match_info == (tag | i));
  CHECK(status.msg_length == length && status.xfer_length == length);
  pattern_check(in->data[i % IN_FLIGHT], length, i);
}

static void send_post(struct pair* pair, struct window* out, unsigned i, uint32_t length, uint64_t tag) {
  pattern_fill(out->data[i % IN_FLIGHT], length, i);
  out->requests[i % IN_FLIGHT] = pair_send(pair, out->data[i % IN_FLIGHT], length, tag | i);
}

/* Streams. A side that sends and receives waits for both in step: message i - 16 has its receive when message
 * i is sent. */
static void stream(struct pair* pair, int sends, int receives, uint32_t length, unsigned count,
                   uint64_t tag) {
  struct window out, in;
  for (int i = 0; i < IN_FLIGHT; i++) {
    out.data[i] = memory(length);
    in.data[i] = memory(length);
  }
  for (unsigned i = 0; i < count + IN_FLIGHT; i++) {
    if (receives && i >= IN_FLIGHT) receive_finish(pair, &in, i - IN_FLIGHT, length, tag);
    if (receives && i < count) receive_post(pair, &in, i, length, tag);
    if (sends && i >= IN_FLIGHT) pair_finish(pair, out.requests[i % IN_FLIGHT]);
    if (sends && i < count) send_post(pair, &out, i, length, tag);
  }
  for (int i = 0; i < IN_FLIGHT; i++) {
    free(out.data[i]);
    free(in.data[i]);
  }
}

int main(int argc, char** argv) {
  static const uint32_t lengths[] = {0, 16, 100, 1400, 8192, 32768, 32769, 300000};
  struct pair pair = pair_open(argc, argv);
  uint64_t tag = 0;
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    const unsigned count = lengths[i] < 10000 ? 1000 : 100;
    stream(&pair, pair.is_sender, pair.is_receiver, lengths[i], count, ++tag << 32);
    stream(&pair, 1, 1, lengths[i], count, ++tag << 32);
    pair_barrier(&pair);
  }
  pair_close(&pair);
  return 0;
}
