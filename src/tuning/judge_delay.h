// SPDX-License-Identifier: BSD-3-Clause
// Judges what delays frames in the interface: coalescing, deferred interrupts. Pure functions of the facts.
#pragma once

#include "tuning/facts_interface.h"
#include "tuning/finding.h"

namespace omx::tuning {

Finding coalescing_judge(const InterfaceFacts& facts);
Finding deferral_judge(const InterfaceFacts& facts);
Finding suspension_judge(const InterfaceFacts& facts);

}  // namespace omx::tuning
