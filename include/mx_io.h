/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Board handles and the state of the network map (docs/spec/mx-api.md 2, 3). */
/* NOLINTBEGIN(bugprone-reserved-identifier): names with two underscores are given by the ABI. */
#ifndef MX_IO_H
#define MX_IO_H

#include <stdint.h>

typedef int mx_endpt_handle_t;
#define MX__INVALID_HANDLE (-1)

/* State of the peer table, as a mapper daemon left it. mx__get_mapper_state fills it. */
typedef struct {
  uint32_t board_number;
  uint8_t mapper_mac[6];
  uint16_t iport;
  uint32_t map_version;
  uint32_t num_hosts;
  uint32_t network_configured;
  uint32_t routes_valid;
  uint32_t level;
  uint32_t flags;
} mx_mapper_state_t;

#endif /* MX_IO_H */
/* NOLINTEND(bugprone-reserved-identifier) */
