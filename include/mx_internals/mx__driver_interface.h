/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Internal functions that Open MPI 1.3 and later, and MPICH-MX, call (docs/spec/mx-api.md 4.7). The
 * rules at the top of myriexpress.h hold here too. */
/* NOLINTBEGIN(bugprone-reserved-identifier): names with two underscores are given by the ABI. */
#ifndef MX__DRIVER_INTERFACE_H
#define MX__DRIVER_INTERFACE_H

#include <stddef.h>

#include "../mx_io.h"
#include "../myriexpress.h"

#pragma GCC visibility push(default)
MX__BEGIN_DECLS

/* Fills map_version and mapper_mac, which together name a network: they are the same on all its hosts. They
 * are zeros unless mx_raw_set_map_version was called. The other fields become 0. `handle` is from
 * mx_open_board. */
mx_return_t mx__get_mapper_state(mx_endpt_handle_t handle, mx_mapper_state_t* state);

/* Tells the library that `len` bytes at `ptr` are about to be unmapped. Safe in any thread at any time, even
 * before mx_init and inside malloc. It takes no lock and allocates nothing, as this library keeps no
 * registrations. Returns 0. */
int mx__regcache_clean(void* ptr, size_t len);

MX__END_DECLS
#pragma GCC visibility pop

#endif /* MX__DRIVER_INTERFACE_H */
/* NOLINTEND(bugprone-reserved-identifier) */
