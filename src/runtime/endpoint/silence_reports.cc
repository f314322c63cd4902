// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/silence_reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "protocol/state/peer.h"
#include "runtime/board/claim.h"
#include "runtime/board/resolver.h"
#include "runtime/board/unreached.h"

namespace omx::runtime {

namespace {

// A host that is only busy answers within this time.
constexpr TimeNs kSilence = 5'000 * protocol::kMillisecond;
constexpr std::size_t kWarningsMost = 16;

}  // namespace

std::string SilenceReports::advice(NicId nic) const {
  // There is no firewall between processes of one host.
  if (!core_.board.udp || !by_udp(nic) || nic == core_.board.interface.nic) return {};
  const link::Datagram* const datagram = core_.link->datagram();
  const std::string complaint = datagram ? datagram->complaint(nic) : std::string();
  return udp_advice(core_.settings.udp_port) + (complaint.empty() ? "" : fmt::format(" ({})", complaint));
}

// Returns why a peer is silent; empty if nothing more is known.
std::string SilenceReports::reason_of(const protocol::PeerInfo& peer) const {
  if (peer.nic != core_.board.interface.nic) {
    const std::string known = advice(peer.nic);
    return known.empty() ? known : "unless that host is down: " + known;
  }
  // A process of the same user may compute for long, which is no fault.
  UnreachedFacts facts;
  facts.holder = claim_holder(core_.board.interface.index, peer.endpoint);
  facts.user = ::geteuid();
  if (!facts.holder || facts.holder->pid == 0 || facts.holder->uid == facts.user) return {};
  facts.endpoint = peer.endpoint;
  facts.here = true;
  return unreached_judge(facts).reason;
}

// Reports each host once.
void SilenceReports::report(const protocol::PeerInfo& peer) {
  const bool told = std::find(reported_.begin(), reported_.end(), peer.nic) != reported_.end();
  if (told || reported_.size() >= kWarningsMost) return;
  const std::string reason = reason_of(peer);
  if (!reason.empty() || peer.nic == core_.board.interface.nic) reported_.push_back(peer.nic);
  if (!reason.empty())
    log(LogLevel::warn, "{}: no answer from {}; {}", core_.board.interface.name,
        names_.text(peer.nic, peer.endpoint), reason);
}

void SilenceReports::found() {
  if (protocol::Peer* peer = core_.engine->silent_take()) report(protocol::peer_info(peer));
  held_up();
}

void SilenceReports::held_up() {
  using What = protocol::HeldUp::What;
  const protocol::HeldUp held = core_.engine->held_up_take();
  static std::atomic<unsigned> told{0};
  const unsigned bit = 1U << static_cast<unsigned>(held.what);
  if (held.what == What::nothing || (told.fetch_or(bit, std::memory_order_relaxed) & bit)) return;
  const protocol::PeerInfo peer = protocol::peer_info(held.peer);
  const std::string name = names_.text(peer.nic, peer.endpoint);
  const std::uint64_t mib = held.bound >> 20;
  if (held.what == What::data) {
    log(LogLevel::warn,
        "{} endpoint {}: messages that no receive was posted for fill {} MiB; data of more, now from {}, "
        "stay with their senders until receives match; post receives earlier, or set "
        "OMX_UNEXP_BYTES higher",
        core_.board.interface.name, core_.id, mib, name);
  } else if (held.what == What::envelopes) {
    log(LogLevel::warn,
        "{} endpoint {}: even without data, messages that no receive was posted for fill {} MiB; more, now "
        "from {}, wait until some are received; post receives earlier, or give the host or its "
        "cgroup more memory",
        core_.board.interface.name, core_.id, mib, name);
  } else {
    log(LogLevel::warn,
        "{} endpoint {}: copies of messages that were not received yet fill {} MiB; sends to {} "
        "and others wait for memory; post receives earlier there, or set OMX_SEND_BUFFER_BYTES higher",
        core_.board.interface.name, core_.id, mib, name);
  }
}

void SilenceReports::check() {
  if (!core_.board.udp) return;
  for (std::uint32_t i = 0; i < core_.engine->peer_count(); i++) {
    protocol::Peer* peer = core_.engine->peer_at(i);
    if (!peer) continue;
    const TimeNs since = core_.engine->silent_since(peer);
    if (since < core_.now && core_.now - since >= kSilence) report(protocol::peer_info(peer));
  }
}

}  // namespace omx::runtime
