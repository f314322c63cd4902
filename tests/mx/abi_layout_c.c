/* SPDX-License-Identifier: BSD-3-Clause */
#include "abi_layout.h"

#include "abi_prototypes.h"

/* Called by abi_test.cc, so that C and C++ are linked into one program. */
int abi_prototypes_c(void);
int abi_prototypes_c(void) {
  return prototypes_count();
}
