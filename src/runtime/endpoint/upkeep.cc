// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/upkeep.h"

#include <cassert>

namespace omx::runtime {

namespace {
constexpr TimeNs kPeriod = 1000 * protocol::kMillisecond;
}

void Upkeep::link_check() {
  if (!parts_.interfaces.check()) next_ = parts_.core.now + protocol::kMillisecond;
}

void Upkeep::run() {
  assert(parts_.core.lock.owned());
  next_ = parts_.core.now + kPeriod;
  link_check();
  if (!parts_.rails.empty()) parts_.interfaces.check_rails();
  parts_.core.engine->set_bulk_pulls(!parts_.core.by_ring());
  parts_.publication.counters();
  parts_.publication.view();
  parts_.answers.check();
  if (!parts_.core.hub) parts_.core.claim.drain();
  parts_.silence.check();
  parts_.names.ask();
  parts_.reports.frame_sizes();
  parts_.reports.wire_modes();
  parts_.summary.check(false);
}

void Upkeep::last_reports() {
  parts_.reports.frame_sizes();
  parts_.reports.wire_modes();
  parts_.summary.check(true);
}

}  // namespace omx::runtime
