// SPDX-License-Identifier: BSD-3-Clause
// Loads the XDP program. This is C because bpftool's light skeleton is. The skeleton needs no library, so
// programs that use the static library need none either.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct omx_xdp_program {
  int program;
  int sockets;  // sockets and rules are maps
  int rules;
};

// Returns 0, with descriptors that belong to the caller, or a negative errno.
int omx_xdp_load(struct omx_xdp_program* loaded);

#ifdef __cplusplus
}
#endif
