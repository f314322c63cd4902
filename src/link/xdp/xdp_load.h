// SPDX-License-Identifier: BSD-3-Clause
// Loads the XDP program. In C, as bpftool's light skeleton is: that one needs no library, so that programs
// which use the static library need none either.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct omx_xdp_program {
  int program;
  int sockets;  // maps
  int rules;
};

// 0, with descriptors that belong to the caller; or a negative errno.
int omx_xdp_load(struct omx_xdp_program* loaded);

#ifdef __cplusplus
}
#endif
