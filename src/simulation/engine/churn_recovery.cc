// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/churn_recovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/state/peer.h"

namespace omx::simulation {

using protocol::RequestKind;

namespace {
constexpr TimeNs kSettleLimit = 4000 * kSecond;
// If all hosts have the extension.
constexpr TimeNs kSettleLimitExtended = 60 * kSecond;
constexpr int kLegacyTries = 5;
}  // namespace

bool ChurnRecovery::over(const Operation& o) const {
  return o.ended || o.instance->crashed() || (o.kind == RequestKind::receive && o.expected == 0);
}

bool ChurnRecovery::settled() {
  return failed() ||
         std::all_of(operations_.begin(), operations_.end(), [this](const auto& o) { return over(*o); });
}

// Disconnects where a send cannot end. Without the extension a large message may have been taken for a
// repetition. Its receiver lives and answers but does not know the message. Only a disconnect ends that.
void ChurnRecovery::unstick() {
  for (const auto& o : operations_)
    if (!over(*o) && o->kind == RequestKind::send && !strict(o->host, o->to)) disconnect(o->host, o->to);
}

// Returns whether a large message waits for the other host to fetch it, of a send that its application
// forgot. So no operation waits for the message, and settle() does not either.
bool ChurnRecovery::forgotten_send_waits(std::uint32_t host, std::uint32_t to) {
  protocol::Peer* const p = engine(host).find_peer(World::nic_of(to), 0);
  if (!p) return false;
  auto& waiting = p->tx.await_notify;
  for (protocol::Request* r = waiting.front(); r; r = waiting.next(*r))
    if (r->user_gone) return true;
  return false;
}

// Does the same as unstick() for sends that their applications forgot. Nothing excuses such a send if neither
// host ever gave up the other.
void ChurnRecovery::unstick_forgotten() {
  bool any = false;
  for (std::uint32_t i = 0; i < hosts(); i++) {
    for (std::uint32_t j = 0; j < hosts(); j++) {
      const bool gave_up = instance(i).views[j].losses > 0 || instance(j).views[i].losses > 0;
      if (i == j || strict(i, j) || !gave_up || !forgotten_send_waits(i, j)) continue;
      disconnect(i, j);
      any = true;
    }
  }
  if (any) world_.run_for(10 * kSecond);  // timers that are not needed any more fire once
}

// Receives everything that was sent, until every request has ended and no message waits.
void ChurnRecovery::settle() {
  const auto quiet = [this] {
    for (std::uint32_t i = 0; i < hosts(); i++)
      if (instance(i).matching.messages() > 0) return false;
    return settled();
  };
  const TimeNs patience = relaxed() ? kSettleLimit : kSettleLimitExtended;
  for (TimeNs waited = 0; waited < patience && !quiet() && !failed(); waited += kSecond) {
    for (std::uint32_t i = 0; i < hosts(); i++) {
      for (std::uint64_t n = instance(i).matching.messages(); n > 0; n--) receive(i, true);
      // Hosts with little memory refuse messages for which no receive waits.
      while (instance(i).posted.size() < 4) receive(i, true);
    }
    reap_all();
    world_.run_until(quiet, kSecond);
    overdue_check();
    if (waited == 4 * timeout_) unstick();
  }
  for (const auto& o : operations_) {
    if (!over(*o)) fail(fmt::format("operation {} of host {} never ended", o->id, o->host));
  }
}

void ChurnRecovery::connect_all() {
  for (std::uint32_t i = 0; i < hosts(); i++)
    for (std::uint32_t j = 0; j < hosts(); j++)
      if (i != j) connect(i, j, false);
  reap_all();
  world_.run_until([this] { return settled(); }, 2 * timeout_);
  settle();
}

// Sends one message of each class from every host to every other one.
void ChurnRecovery::exchange_all() {
  for (std::uint32_t i = 0; i < hosts(); i++) {
    for (std::uint32_t j = 0; j < hosts(); j++) {
      if (i == j) continue;
      for (const std::size_t length : {10, 100, 5000, 100'000})
        send(i, j, engine(i).find_peer(World::nic_of(j), 0), {length});
      send(i, j, engine(i).find_peer(World::nic_of(j), 0), {1000, true});
    }
  }
  reap_all();
  settle();
}

void ChurnRecovery::recover() {
  world_.faults().groups.clear();
  // Frame losses and delays may end or go on.
  if (random_.chance(0.3)) world_.faults().plan = {};
  for (std::uint32_t i = 0; i < hosts(); i++) {
    if (!world_.host(i).alive()) restart(i);
    resume(i);
  }
  contact_update();
  settle();
  if (failed()) return;
  const int tries = relaxed() ? kLegacyTries : 1;
  for (int i = 0; i < tries && !failed(); i++) {
    receives_cancel();  // some receives are too small
    const std::size_t before = operations_.size();
    connect_all();
    world_.run_for(2 * kSecond);  // frames under way arrive
    faults_over_ = true;
    exchange_all();
    const bool all = std::all_of(operations_.begin() + static_cast<std::ptrdiff_t>(before), operations_.end(),
                                 [](const auto& o) { return o->kind == RequestKind::receive || o->well; });
    if (all) break;
    if (i + 1 == tries) fail("not all hosts can talk to all others again");
  }
  if (failed()) return;
  receives_cancel();
  world_.run_for(600 * kSecond);  // a lost MTU probe is repeated twice a minute
  unstick_forgotten();
  // A path narrower than the MTU is probed again from time to time.
  if (!failed()) leftovers(network_.world.path_mtu == 0);
}

}  // namespace omx::simulation
