// SPDX-License-Identifier: BSD-3-Clause
// Peers by UDP that do not answer. A firewall that drops what it does not know says nothing, and nothing can
// be told by that but what to look at.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "runtime/board/claim.h"
#include "runtime/board/resolver.h"
#include "runtime/board/unreached.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

// A host that is only busy has answered by then.
constexpr TimeNs kSilence = 5'000 * protocol::kMillisecond;
constexpr std::size_t kWarningsMost = 16;

}  // namespace

std::string Endpoint::Impl::silence_advice(NicId nic) const {
  // No firewall is between processes of one host.
  if (!board_.udp || !by_udp(nic) || nic == board_.interface.nic) return {};
  const link::Datagram* datagram = link->datagram();
  const std::string complaint = datagram ? datagram->complaint(nic) : std::string();
  return udp_advice(settings_.udp_port) + (complaint.empty() ? "" : fmt::format(" ({})", complaint));
}

void Endpoint::Impl::on_refused(wire::Frame frame) {
  if (!disabled_) engine->connect_refused(now, frame);
}

// Why a peer is silent; empty: there is nothing to say but that.
std::string Endpoint::Impl::silence_reason(const protocol::PartnerInfo& peer) const {
  if (peer.nic != board_.interface.nic) {
    const std::string advice = silence_advice(peer.nic);
    return advice.empty() ? advice : "unless that host is down: " + advice;
  }
  // A process of the same user may compute for long, which is no fault.
  UnreachedFacts facts;
  facts.holder = claim_holder(board_.interface.index, peer.endpoint);
  facts.user = ::geteuid();
  if (!facts.holder || facts.holder->pid == 0 || facts.holder->uid == facts.user) return {};
  facts.endpoint = peer.endpoint;
  facts.here = true;
  return unreached_judge(facts).reason;
}

// Once for each host.
void Endpoint::Impl::silence_tell(const protocol::PartnerInfo& peer) {
  const bool told = std::find(silent_.begin(), silent_.end(), peer.nic) != silent_.end();
  if (told || silent_.size() >= kWarningsMost) return;
  const std::string reason = silence_reason(peer);
  if (!reason.empty() || peer.nic == board_.interface.nic) silent_.push_back(peer.nic);
  if (!reason.empty())
    log(LogLevel::warn, "{}: no answer from {}; {}", board_.interface.name,
        peer_text(peer.nic, peer.endpoint), reason);
}

void Endpoint::Impl::silence_found() {
  if (protocol::Partner* partner = engine->silent_take()) silence_tell(protocol::partner_info(partner));
  held_up_found();
}

void Endpoint::Impl::held_up_found() {
  using What = protocol::HeldUp::What;
  const protocol::HeldUp held = engine->held_up_take();
  static std::atomic<unsigned> told{0};
  const unsigned bit = 1U << static_cast<unsigned>(held.what);
  if (held.what == What::nothing || (told.fetch_or(bit, std::memory_order_relaxed) & bit)) return;
  const protocol::PartnerInfo peer = protocol::partner_info(held.partner);
  const std::string name = peer_text(peer.nic, peer.endpoint);
  const std::uint64_t mib = held.bound >> 20;
  if (held.what == What::data) {
    log(LogLevel::warn,
        "{} endpoint {}: messages that no receive was posted for fill {} MiB; data of more, now from {}, "
        "stay with their senders until receives match; post receives earlier, or set "
        "OMX_UNEXP_BYTES higher",
        board_.interface.name, id_, mib, name);
  } else if (held.what == What::envelopes) {
    log(LogLevel::warn,
        "{} endpoint {}: even without data, messages that no receive was posted for fill {} MiB; more, now "
        "from {}, wait until some are received; post receives earlier, or give the host or its "
        "cgroup more memory",
        board_.interface.name, id_, mib, name);
  } else {
    log(LogLevel::warn,
        "{} endpoint {}: copies of messages that were not received yet fill {} MiB; sends to {} "
        "and others wait for memory; post receives earlier there, or set OMX_SEND_BUFFER_BYTES higher",
        board_.interface.name, id_, mib, name);
  }
}

void Endpoint::Impl::silence_check() {
  if (!board_.udp) return;
  for (std::uint32_t i = 0; i < engine->partner_count(); i++) {
    protocol::Partner* partner = engine->partner_at(i);
    if (!partner) continue;
    const TimeNs since = engine->silent_since(partner);
    if (since < now && now - since >= kSilence) silence_tell(protocol::partner_info(partner));
  }
}

std::string Endpoint::silence_advice(NicId nic) {
  if (impl_->foreign()) return {};
  const Operation operation(*impl_);
  return impl_->silence_advice(nic);
}

std::string Endpoint::peer_text(NicId nic, std::uint8_t endpoint) {
  if (impl_->foreign()) return {};
  const Operation operation(*impl_);
  return impl_->peer_text(nic, endpoint);
}

}  // namespace omx::runtime
