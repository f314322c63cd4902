// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/endpoint_impl.h"

#include "protocol/state/peer.h"

namespace omx::runtime {

Endpoint::Impl::Impl(const Board& board, std::uint8_t id, std::uint32_t slot, const Settings& settings)
    : core(board, id, settings),
      progression(core.lock),
      spin_budget(TimeNs{settings.waiting.spin_us} * 1000),
      sleeping(core,
               Moderation(settings.waiting.moderation.of(id), TimeNs{settings.waiting.moderation_us} * 1000)),
      burst(core),
      answers(core),
      intake(core, progression, answers),
      expected(core, progression),
      rails(core, intake, expected, waiters, sleeping),
      intra_node(core, intake),
      bulk(core, intake, expected, rails, spin_budget, waiters),
      names(core, answers),
      reports(core, names),
      silence(core, names),
      summary(core, rails),
      feed(core, reports),
      publication(core, rails, progression, waiters),
      interfaces(core, progression, answers, intra_node, rails, waiters),
      upkeep({core, answers, rails, interfaces, publication, names, reports, silence, summary}),
      turn({core, progression, burst, intake, rails, intra_node, bulk, feed, reports, silence, upkeep}),
      waking(core, progression, intra_node, waiters),
      unexpected(core, progression, burst, waking, waiters),
      progress(core, waiters, settings),
      polling(core, burst, turn, progress, spin_budget),
      turns({core, progression, burst, rails, intra_node, bulk, publication, upkeep, interfaces, turn,
             polling, waking, waiters, sleeping}),
      waiting({core, waiters, spin_budget, settings, turns}, progress),
      background(core, burst, waiting),
      sends(core, progression, burst, turn, progress, waiters),
      lifecycle({core, progression, answers, names, intra_node, rails, bulk, upkeep, turn, polling, turns,
                 waiters, sleeping, progress}),
      slot_(slot) {
  progress.host_is(background);
}

protocol::Peer* Endpoint::Impl::peer_of(const Address& address) {
  protocol::Peer* const peer = core.engine->peer_at(address_peer(address));
  return peer && address_names(address, peer->nic, peer->endpoint, slot_) ? peer : nullptr;
}

void Endpoint::Impl::turn_if_free() {
  if (!core.lock.try_lock()) return;
  if (core.lock.depth() == 1) {
    core.now = core.clock.read();
    turn.run();
    waking.wake_others();
  }
  core.lock.unlock();
}

void Endpoint::Impl::disable() {
  burst.end();
  progression.disable();
  core.engine->suspend(core.now, true);
  // Each frame would wake a leader that sleeps on the link's descriptor, and it could not process it.
  waiters.wake_sleeper();
  progression.handler_wait();
}

void Endpoint::Impl::reenable() {
  progression.enable();
  core.engine->suspend(core.now, false);
  turn.run();
  waiters.wake_sleeper();
}

}  // namespace omx::runtime
