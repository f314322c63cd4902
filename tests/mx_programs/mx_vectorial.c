/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends a message from segments into differently cut segments, up to 256, some of them empty. The gaps
 * between the receiver's segments must not change. */
#include "pair.h"

enum { GAP = 3 };

/* Cuts `length` bytes into `count` uneven pieces. With `gaps` they lie GAP bytes apart. */
static void cut(unsigned char* memory_start, uint32_t length, uint32_t count, int gaps,
                mx_segment_t* segments) {
  uint32_t left = length;
  unsigned char* at = memory_start;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t share = left / (count - i);
    const uint32_t piece = i + 1 == count ? left : i % 7 == 2 ? 0 : share - share / 5 * (i % 3);
    segments[i].segment_ptr = at;
    segments[i].segment_length = piece;
    at += piece + (gaps ? GAP : 0);
    left -= piece;
  }
}

static void exchange(struct pair* pair, uint32_t length, uint32_t out, uint32_t in, unsigned round) {
  mx_segment_t segments[MX_MAX_SEGMENTS];
  const size_t room = length + (size_t)GAP * MX_MAX_SEGMENTS;
  unsigned char* data = memory(room);
  unsigned char* whole = memory(length);
  mx_request_t request;
  if (pair->is_sender) {
    pattern_fill(data, length, round);
    cut(data, length, out, 0, segments);
    CHECK_MX(mx_isend(pair->endpoint, segments, out, pair->other, round, NULL, &request));
    memset(segments, 0xff, sizeof segments); /* the caller may reuse the list */
    pair_finish(pair, request);
  } else {
    memset(data, 0xa5, room);
    cut(data, length, in, 1, segments);
    CHECK_MX(mx_irecv(pair->endpoint, segments, in, round, MX_MATCH_MASK_NONE, NULL, &request));
    CHECK(pair_finish(pair, request).xfer_length == length);
    uint32_t at = 0;
    for (uint32_t i = 0; i < in; i++) {
      memcpy(whole + at, segments[i].segment_ptr, segments[i].segment_length);
      at += segments[i].segment_length;
      for (int gap = 0; gap < GAP; gap++)
        CHECK(((unsigned char*)segments[i].segment_ptr)[segments[i].segment_length + (uint32_t)gap] == 0xa5);
    }
    CHECK(at == length);
    pattern_check(whole, length, round);
  }
  pair_barrier(pair);
  free(data);
  free(whole);
}

int main(int argc, char** argv) {
  static const uint32_t lengths[] = {1, 31, 127, 1500, 30000, 100000, 3000001};
  static const uint32_t counts[] = {1, 2, 5, 255, 256};
  struct pair pair = pair_open(argc, argv);
  unsigned round = 0;
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
    for (size_t o = 0; o < sizeof counts / sizeof counts[0]; o++)
      for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        exchange(&pair, lengths[l], counts[o], counts[i], ++round);
  pair_close(&pair);
  return 0;
}
