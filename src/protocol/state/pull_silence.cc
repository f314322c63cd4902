// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/pull_silence.h"

#include <algorithm>

#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/rails.h"
#include "protocol/state/state.h"

namespace omx::protocol {

TimeNs pull_delay(const State& s, const Pull& pull) {
  const bool extended = pull.peer->agreed.extended;
  const TimeNs base = pull.peer->rails ? rails_patience(s, *pull.peer)
                      : extended       ? pull_patience(s, *pull.peer)
                                       : s.config.reliability.pull_delay;
  return std::min(base << std::min<std::uint32_t>(pull.silent_rounds, 16),
                  std::max(base, s.config.reliability.resend_delay_max));
}

TimeNs pull_silent_since(Pull& pull) {
  const Peer& p = *pull.peer;
  const TimeNs asked = std::max(pull.last_reply, pull.last_asked);
  const PullBlock& oldest = pull.block(0);
  const bool its_turn_comes = oldest.untouched && !oldest.repeated && oldest.asked > p.rx.pulls->answered;
  return p.agreed.extended && its_turn_comes ? std::max(asked, p.rx.pulls->heard) : asked;
}

}  // namespace omx::protocol
