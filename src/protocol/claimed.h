// SPDX-License-Identifier: BSD-3-Clause
// Unexpected messages that the application has taken out of matching.
#pragma once

#include <cstdint>

#include "protocol/state.h"

namespace omx::protocol {

void message_receive(State& s, Request& r, Unexpected& u);
Unexpected* message_claim(State& s, std::uint64_t match_info, std::uint64_t match_mask, const Partner* source,
                          std::uint32_t session, std::uint8_t message_class);
bool claimed_discard(State& s, Unexpected& u);
void claimed_drop_all(State& s);

}  // namespace omx::protocol
