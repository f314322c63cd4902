// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/wait_objects.h"

#include "libfabric/completion_queue.h"
#include "libfabric/counter.h"
#include "libfabric/event_queue.h"
#include "libfabric/waitable.h"

namespace omx::fabric {

Waitable* waitable_of(fid* object) {
  switch (object->fclass) {
    case FI_CLASS_CQ:
      return static_cast<CompletionQueue*>(reinterpret_cast<fid_cq*>(object));
    case FI_CLASS_CNTR:
      return static_cast<Counter*>(reinterpret_cast<fid_cntr*>(object));
    default:
      return nullptr;
  }
}

int trywait(fid_fabric*, fid** objects, int count) {
  for (int i = 0; i < count; i++) {
    if (objects[i]->fclass == FI_CLASS_EQ) {
      if (!static_cast<EventQueue*>(reinterpret_cast<fid_eq*>(objects[i]))->empty()) return -FI_EAGAIN;
      continue;
    }
    Waitable* waitable = waitable_of(objects[i]);
    if (!waitable) return -FI_EINVAL;
    if (const int busy = waitable->arm()) return busy;
  }
  return 0;
}

}  // namespace omx::fabric
