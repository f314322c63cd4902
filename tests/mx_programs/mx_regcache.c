/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client with MX_RCACHE=2 reports freed memory from its own free(). It thus calls the library from inside
 * the library's allocations, before mx_init and after mx_finalize. */
#include <stdatomic.h>

#include "mx_internals/mx__driver_interface.h"
#include "pair.h"

extern void __libc_free(void* data);

static atomic_ulong calls;

void free(void* data) {
  if (data) {
    mx__regcache_clean(data, 1);
    atomic_fetch_add(&calls, 1);
  }
  __libc_free(data);
}

int main(int argc, char** argv) {
  free(memory(10));
  CHECK(calls > 0);
  CHECK(setenv("MX_RCACHE", "2", 1) == 0);
  const unsigned long before = calls;
  struct pair pair = pair_open(argc, argv);
  CHECK(calls > before); /* includes calls by the library itself */
  for (unsigned round = 0; round < 40; round++) {
    const uint32_t length = 1U << round % 21;
    unsigned char* data = memory(length);
    if (pair.is_sender) {
      pattern_fill(data, length, round);
      pair_finish(&pair, pair_send(&pair, data, length, round));
    } else {
      pair_finish(&pair, pair_receive(&pair, data, length, round));
      pattern_check(data, length, round);
    }
    free(data);
  }
  pair_close(&pair);
  free(memory(10));
  return 0;
}
