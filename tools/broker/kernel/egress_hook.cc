// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/egress_hook.h"

#include "tools/broker/kernel/egress_clsact.h"
#include "tools/broker/kernel/egress_tcx.h"

namespace omx::broker {

Result<EgressHook> egress_hook_find(std::uint32_t ifindex) {
  const TcxHook tcx = tcx_find(ifindex);
  if (tcx.program_id != 0) return EgressHook{tcx.program_id, tcx.first};
  return clsact_find(ifindex).map([&](const ClsactHook& hook) {
    return EgressHook{hook.program_id, hook.first && tcx.programs == 0};
  });
}

Result<void> egress_hook_add(std::uint32_t ifindex, int program) {
  if (!tcx_find(ifindex).possible) return clsact_add(ifindex, program);
  if (auto added = tcx_add(ifindex, program); !added) return added;
  return clsact_remove(ifindex);  // of a broker that knew no tcx
}

Result<void> egress_hook_remove(std::uint32_t ifindex) {
  auto by_tcx = tcx_remove(ifindex);
  auto by_clsact = clsact_remove(ifindex);
  return by_tcx ? by_clsact : by_tcx;
}

}  // namespace omx::broker
