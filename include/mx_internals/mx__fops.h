/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Internal function that Open MPI 1.3 and later call (docs/spec/mx-api.md 4.7). The rules at the top of
 * myriexpress.h hold here too. */
/* NOLINTBEGIN(bugprone-reserved-identifier): names with two underscores are given by the ABI. */
#ifndef MX__FOPS_H
#define MX__FOPS_H

#include "../mx_io.h"
#include "../myriexpress.h"

#pragma GCC visibility push(default)
MX__BEGIN_DECLS

/* Stores a handle of board `i` for mx__get_mapper_state. The handle is no file descriptor and needs no
 * closing. MX_BOARD_UNKNOWN: there is no such board. */
mx_return_t mx_open_board(int i, mx_endpt_handle_t* handle);

MX__END_DECLS
#pragma GCC visibility pop

#endif /* MX__FOPS_H */
/* NOLINTEND(bugprone-reserved-identifier) */
