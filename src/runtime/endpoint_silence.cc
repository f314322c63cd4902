// SPDX-License-Identifier: BSD-3-Clause
// Peers by UDP that do not answer. A firewall that drops what it does not know says nothing, and nothing can
// be told by that but what to look at.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "runtime/endpoint_impl.h"
#include "runtime/resolver.h"

namespace omx::runtime {

namespace {

// A host that is only busy has answered by then.
constexpr TimeNs kSilence = 5'000 * protocol::kMillisecond;
constexpr std::size_t kWarningsMost = 16;

}  // namespace

std::string Endpoint::Impl::silence_advice(NicId nic) const {
  if (!board_.udp || !by_udp(nic)) return {};
  const std::string complaint = link->complaint(nic);
  return udp_advice(settings_.udp_port) + (complaint.empty() ? "" : fmt::format(" ({})", complaint));
}

void Endpoint::Impl::on_refused(wire::Frame frame) {
  if (!disabled_) engine->connect_refused(now, frame);
}

// Once for each host.
void Endpoint::Impl::silence_tell(const protocol::PartnerInfo& peer) {
  const std::string advice = silence_advice(peer.nic);
  const bool told = std::find(silent_.begin(), silent_.end(), peer.nic) != silent_.end();
  if (advice.empty() || told || silent_.size() >= kWarningsMost) return;
  silent_.push_back(peer.nic);
  const std::string name = address_name(peer.nic);
  log(LogLevel::warn, "{}: no answer from {} endpoint {}; unless that host is down: {}",
      board_.interface.name, name.empty() ? mac_format(peer.nic) : name, peer.endpoint, advice);
}

void Endpoint::Impl::silence_found() {
  if (protocol::Partner* partner = engine->silent_take()) silence_tell(protocol::partner_info(partner));
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

}  // namespace omx::runtime
