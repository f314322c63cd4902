/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Internal functions that Open MPI 1.3 and later, and MPICH-MX, call (mx-api.md 4.7). */
/* NOLINTBEGIN(bugprone-reserved-identifier): names with two underscores are given by the ABI. */
#ifndef MX__DRIVER_INTERFACE_H
#define MX__DRIVER_INTERFACE_H

#include <stddef.h>

#include "../mx_io.h"
#include "../myriexpress.h"

#pragma GCC visibility push(default)
MX__BEGIN_DECLS

/* Fills map_version and mapper_mac, which together name a network: the same on all hosts of one network,
 * zeros unless mx_raw_set_map_version was called. The other fields become 0. */
mx_return_t mx__get_mapper_state(mx_endpt_handle_t handle, mx_mapper_state_t* state);

/* Tells the library that memory is about to be unmapped. Safe at any time, before mx_init and inside malloc:
 * it takes no lock and allocates nothing, as this library keeps no registrations. Returns 0. */
int mx__regcache_clean(void* ptr, size_t len);

MX__END_DECLS
#pragma GCC visibility pop

#endif /* MX__DRIVER_INTERFACE_H */
/* NOLINTEND(bugprone-reserved-identifier) */
