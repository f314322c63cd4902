// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/region_release.h"

#include "protocol/actions/send.h"
#include "protocol/direct.h"
#include "protocol/state/peer.h"
#include "protocol/state/regions.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void region_release(State& s, Request& r) {
  Region* const region = s.regions.of(r);
  if (!region) return;
  s.regions.release(*region);
  if (s.config.direct && region->page == 0) s.config.direct->region_ended(region->place);
  // The peer that waited longest sends next. If it cannot use the region (no credit), the next one does. A
  // peer that waits again, because it lacks memory, is not asked twice.
  const Peer* first_again = nullptr;
  while (!s.closing && s.regions.available()) {
    Peer* p = s.region_waiters.front();
    if (!p || p == first_again) return;
    s.region_waiters.remove(*p);
    send_pump(s, *p);
    if (p->tx.region_blocked && !first_again) first_again = p;
  }
}

}  // namespace omx::protocol
