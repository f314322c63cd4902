// SPDX-License-Identifier: BSD-3-Clause
// The parts of the catalogue, one file each. tests/lint/messages_test.py compares them with the sources.
#pragma once

#include "base/messages/entry.h"

namespace omx::messages {

extern const Section kSectionStart;      // E1..
extern const Section kSectionEndpoints;  // E2..
extern const Section kSectionConnect;    // E3..
extern const Section kSectionPeers;      // E4..
extern const Section kSectionCalls;      // E5..
extern const Section kSectionMemory;     // E6..
extern const Section kSectionLibfabric;  // E7..
extern const Section kSectionBroker;     // E8..
extern const Section kSectionCommands;   // E9..

}  // namespace omx::messages
