// SPDX-License-Identifier: BSD-3-Clause
// Judges which processors handle arriving frames: queues, their interrupts, RPS, XPS. Pure functions of the
// facts.
#pragma once

#include "tuning/facts_host.h"
#include "tuning/facts_interface.h"
#include "tuning/finding.h"

namespace omx::tuning {

Finding interrupts_judge(const InterfaceFacts& facts, const HostFacts& host);
Finding channels_judge(const InterfaceFacts& facts, const HostFacts& host);
Finding rps_judge(const InterfaceFacts& facts);
Finding xps_judge(const InterfaceFacts& facts, const HostFacts& host);

}  // namespace omx::tuning
