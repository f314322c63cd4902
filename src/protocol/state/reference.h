// SPDX-License-Identifier: BSD-3-Clause
// Numbers with legacy peers, which have no epochs: what their answers show.
#pragma once

#include <cstdint>

#include "protocol/state/seqnum.h"

namespace omx::protocol {

struct Partner;

// Notes that the remote endpoint lives in that session and will take `start` as our first number.
void reference_adopt(Partner& p, std::uint32_t session, Seqnum start);
// Whether the peer, in the session that we know, forgot our numbers: it gave us up, which shows in the
// session count (docs/spec/protocol.md 7, last [DO]), or it wants one that we have not used yet, as we took
// over an older announcement.
bool reference_out_of_step(const Partner& p, Seqnum start);
// Whether a reply of the instance that we know, in `session`, shows that it still counts as we do.
bool reference_in_step(Partner& p, std::uint32_t session, Seqnum start);

}  // namespace omx::protocol
