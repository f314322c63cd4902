// SPDX-License-Identifier: BSD-3-Clause
#include "link/xdp/xdp_load.h"

#include <errno.h>
#include <stddef.h>

#include "xdp_receive.lskel.h"

int omx_xdp_load(struct omx_xdp_program* loaded) {
  struct xdp_receive* object = xdp_receive__open();
  if (!object) return -ENOMEM;
  const int error = xdp_receive__load(object);
  if (error == 0) {
    loaded->program = object->progs.omx_xdp.prog_fd;
    loaded->sockets = object->maps.omx_xdp_sockets.map_fd;
    loaded->rules = object->maps.omx_xdp_rules.map_fd;
    object->progs.omx_xdp.prog_fd = object->maps.omx_xdp_sockets.map_fd = object->maps.omx_xdp_rules.map_fd =
        0;
  }
  xdp_receive__destroy(object);
  return error < 0 ? error : 0;
}
