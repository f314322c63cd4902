// SPDX-License-Identifier: BSD-3-Clause
// What happens to peers is said where people look: one line on stderr for a peer that falls silent, one when
// it is back, and one when it is given up (docs/contract.md).
#include <fmt/format.h>

#include <atomic>

#include "base/log.h"
#include "runtime/board/resolver.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

using protocol::PeerNews;

constexpr TimeNs kSecond = 1'000 * protocol::kMillisecond;
constexpr unsigned kQuestionsMost = 8;  // for names, a second
constexpr unsigned kQuestionsOfNic = 3;

const char* mode_text(wire::Mode mode) {
  return mode == wire::Mode::omx ? "omx" : "mxoe";
}

std::string seconds(TimeNs time) {
  return time < 10 * kSecond && time % kSecond ? fmt::format("{:.1f} s", static_cast<double>(time) / 1e9)
                                               : fmt::format("{} s", time / kSecond);
}

// "; 3 operations with it have failed, 2 messages that were sent to it may not have arrived"
std::string damage(const PeerNews& news) {
  std::string text;
  if (news.failed > 0)
    text += fmt::format("; {} operation{} with it ha{} failed", news.failed, news.failed == 1 ? "" : "s",
                        news.failed == 1 ? "s" : "ve");
  if (news.lost > 0)
    text += fmt::format("; {} message{} that {} sent to it may not have arrived", news.lost,
                        news.lost == 1 ? "" : "s", news.lost == 1 ? "was" : "were");
  return text;
}

}  // namespace

std::string Endpoint::Impl::peer_text(NicId nic, std::uint8_t endpoint) const {
  std::string host = address_name(nic);
  if (nic == board_.interface.nic) {
    host = "this host";
  } else if (const auto known = names_ ? names_->find(nic) : std::nullopt; known && !known->name.empty()) {
    host = known->name.ends_with(":0") ? known->name.substr(0, known->name.size() - 2) : known->name;
    const std::string address = address_name(nic);
    host = fmt::format("host {} ({})", host, address.empty() ? nic_text(nic) : address);
  }
  return fmt::format("{}, endpoint {}", host.empty() ? "host " + nic_text(nic) : host, endpoint);
}

void Endpoint::Impl::ended_tell(const PeerNews& news) {
  const protocol::PartnerInfo peer = protocol::partner_info(news.partner);
  const std::string who = peer_text(peer.nic, peer.endpoint);
  const bool harm = news.failed + news.lost > 0;
  const std::string what = damage(news);
  switch (news.why) {
    case PeerNews::Why::given_up:
      if (news.silence >= news.patience)
        log(LogLevel::warn,
            "{}: {} has been silent for {} (OMX_PEER_TIMEOUT_MS) and is given up{}; "
            "see whether its process, its host and the network are well",
            board_.interface.name, who, seconds(news.silence), what);
      else
        log(LogLevel::warn, "{}: {} is given up, as this process cannot go on exchanging messages with it{}",
            board_.interface.name, who, what);
      break;
    case PeerNews::Why::abandoned:
      // An MX program may have disconnected.
      log(harm || sink ? LogLevel::warn : LogLevel::info,
          "{}: {} has given this process up, as it heard nothing from it for its OMX_PEER_TIMEOUT_MS{}",
          board_.interface.name, who, what);
      break;
    case PeerNews::Why::refused:
    case PeerNews::Why::restarted:
      log(news.lost > 0 ? LogLevel::warn : LogLevel::info, "{}: the program at {} has ended{}",
          board_.interface.name, who, what);
      break;
    case PeerNews::Why::disconnected:
      break;
  }
}

void Endpoint::Impl::trains_tell(const protocol::PartnerInfo& peer) {
  static std::atomic<bool> told{false};  // it is the interface's fault, mostly
  if (told.exchange(true)) return;
  log(LogLevel::warn,
      "{0}: {1} gets single datagrams, but not those that the NIC should make out of a larger one (UDP "
      "segmentation), so "
      "large messages go {2}; ethtool -K {0} tx-udp-segmentation off lets the kernel make them",
      board_.interface.name, peer_text(peer.nic, peer.endpoint),
      board_.udp ? "by single ones, slowly" : "by frames instead");
}

void Endpoint::Impl::news_tell() {
  while (const auto news = engine->news_take()) {
    const protocol::PartnerInfo peer = protocol::partner_info(news->partner);
    switch (news->kind) {
      case PeerNews::Kind::silent:
        log(LogLevel::warn, "{}: {} has been silent for {}; {}", board_.interface.name,
            peer_text(peer.nic, peer.endpoint), seconds(news->silence),
            news->patience == protocol::kNever
                ? std::string("it is waited for without a limit (OMX_PEER_TIMEOUT_MS)")
                : fmt::format("it is given up after {} (OMX_PEER_TIMEOUT_MS)", seconds(news->patience)));
        break;
      case PeerNews::Kind::back:
        log(LogLevel::warn, "{}: {} is back after {}", board_.interface.name,
            peer_text(peer.nic, peer.endpoint), seconds(news->silence));
        break;
      case PeerNews::Kind::no_trains:
        trains_tell(peer);
        break;
      case PeerNews::Kind::ended:
        if (sink) sink->conversation_ended(*news);
        ended_tell(*news);
        break;
      case PeerNews::Kind::unreached:
        if (sink) sink->peer_unreached(*news);
        break;
    }
  }
  while (const auto lost = engine->lost_take())
    if (sink) sink->message_lost(*lost);
}

// Once in a process: a setting that differs is one of the whole cluster.
void Endpoint::Impl::modes_tell() {
  static std::atomic<bool> told{false};
  if (told.load(std::memory_order_relaxed)) return;
  const wire::Mode own = settings_.protocol.mode;
  for (std::uint32_t i = 0; i < engine->partner_count(); i++) {
    protocol::Partner* partner = engine->partner_at(i);
    if (!partner || partner == engine->self() || !protocol::partner_connected(partner)) continue;
    const protocol::PartnerInfo peer = protocol::partner_info(partner);
    if (!peer.extended || peer.mode_told == own) continue;
    if (told.exchange(true, std::memory_order_relaxed)) return;
    log(LogLevel::warn,
        "{}: {} has OMX_WIRE_MODE={}, and this process {}: messages between the two have the sizes of native "
        "MX, "
        "which is slower; give both the same OMX_WIRE_MODE",
        board_.interface.name, peer_text(peer.nic, peer.endpoint), mode_text(peer.mode_told), mode_text(own));
    return;
  }
}

// Of hosts whose name nobody has told yet, so that it can be said when they fall silent.
void Endpoint::Impl::names_ask() {
  if (!names_ || board_.udp || !responder_) return;
  unsigned asked = 0;
  const std::uint32_t count = engine->partner_count();
  for (; names_asked_ < count && asked < kQuestionsMost; names_asked_++) {
    protocol::Partner* partner = engine->partner_at(names_asked_);
    if (!partner || partner == engine->self() || !protocol::partner_connected(partner)) continue;
    const NicId nic = protocol::partner_info(partner).nic;
    const auto known = names_->find(nic);
    if (nic == board_.interface.nic || (known && !known->name.empty())) continue;
    responder_->query(nic);
    asked++;
  }
  if (names_asked_ >= count && ++names_rounds_ < kQuestionsOfNic) names_asked_ = 0;
  if (asked > 0) link->flush();
}

}  // namespace omx::runtime
