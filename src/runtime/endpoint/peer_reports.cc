// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/peer_reports.h"

#include <fmt/format.h>

#include <atomic>

#include "base/log.h"
#include "protocol/state/peer.h"

namespace omx::runtime {

namespace {

using protocol::PeerNews;

constexpr TimeNs kSecond = 1'000 * protocol::kMillisecond;

const char* mode_text(wire::Mode mode) {
  return mode == wire::Mode::omx ? "omx" : "mxoe";
}

std::string seconds(TimeNs time) {
  return time < 10 * kSecond && time % kSecond ? fmt::format("{:.1f} s", static_cast<double>(time) / 1e9)
                                               : fmt::format("{} s", time / kSecond);
}

// Returns a text such as "; 3 operations with it have failed, 2 messages that were sent to it may not have
// arrived".
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

void PeerReports::ended(const PeerNews& news) {
  const protocol::PeerInfo peer = protocol::peer_info(news.peer);
  const std::string who = names_.text(peer.nic, peer.endpoint);
  const bool harm = news.failed + news.lost > 0;
  const std::string what = damage(news);
  switch (news.why) {
    case PeerNews::Why::given_up:
      if (news.silence >= news.patience)
        log(LogLevel::warn,
            "{}: {} has been silent for {} (OMX_PEER_TIMEOUT_MS) and is given up{}; "
            "see whether its process, its host and the network are well",
            core_.board.interface.name, who, seconds(news.silence), what);
      else
        log(LogLevel::warn, "{}: {} is given up, as this process cannot go on exchanging messages with it{}",
            core_.board.interface.name, who, what);
      break;
    case PeerNews::Why::abandoned:
      // If no harm was done, an MX program may simply have disconnected.
      log(harm || core_.sink ? LogLevel::warn : LogLevel::info,
          "{}: {} has given this process up, as it heard nothing from it for its OMX_PEER_TIMEOUT_MS{}",
          core_.board.interface.name, who, what);
      break;
    case PeerNews::Why::refused:
    case PeerNews::Why::restarted:
      log(news.lost > 0 ? LogLevel::warn : LogLevel::info, "{}: the program at {} has ended{}",
          core_.board.interface.name, who, what);
      break;
    case PeerNews::Why::disconnected:
      break;
  }
}

void PeerReports::no_batches(const protocol::PeerInfo& peer) {
  static std::atomic<bool> told{false};  // once in a process: the cause is mostly the interface
  if (told.exchange(true)) return;
  log(LogLevel::warn,
      "{0}: {1} gets single datagrams, but not those that the NIC should make out of a larger one (UDP "
      "segmentation), so "
      "large messages go {2}; ethtool -K {0} tx-udp-segmentation off lets the kernel make them",
      core_.board.interface.name, names_.text(peer.nic, peer.endpoint),
      core_.board.udp ? "by single ones, slowly" : "by frames instead");
}

void PeerReports::one(const PeerNews& news) {
  const protocol::PeerInfo peer = protocol::peer_info(news.peer);
  switch (news.kind) {
    case PeerNews::Kind::silent:
      log(LogLevel::warn, "{}: {} has been silent for {}; {}", core_.board.interface.name,
          names_.text(peer.nic, peer.endpoint), seconds(news.silence),
          news.patience == protocol::kNever
              ? std::string("it is waited for without a limit (OMX_PEER_TIMEOUT_MS)")
              : fmt::format("it is given up after {} (OMX_PEER_TIMEOUT_MS)", seconds(news.patience)));
      break;
    case PeerNews::Kind::back:
      log(LogLevel::warn, "{}: {} is back after {}", core_.board.interface.name,
          names_.text(peer.nic, peer.endpoint), seconds(news.silence));
      break;
    case PeerNews::Kind::no_batches:
      no_batches(peer);
      break;
    case PeerNews::Kind::ended:
      if (core_.sink) core_.sink->conversation_ended(news);
      ended(news);
      break;
    case PeerNews::Kind::unreached:
      if (core_.sink) core_.sink->peer_unreached(news);
      break;
  }
}

void PeerReports::news() {
  while (const auto taken = core_.engine->news_take()) one(*taken);
  while (const auto lost = core_.engine->lost_take())
    if (core_.sink) core_.sink->message_lost(*lost);
}

// Reports this once in a process: such a setting differs in the whole cluster.
void PeerReports::wire_modes() {
  static std::atomic<bool> told{false};
  if (told.load(std::memory_order_relaxed)) return;
  const wire::Mode own = core_.settings.protocol.mode;
  for (std::uint32_t i = 0; i < core_.engine->peer_count(); i++) {
    protocol::Peer* peer = core_.engine->peer_at(i);
    if (!peer || peer == core_.engine->self() || !protocol::peer_connected(peer)) continue;
    const protocol::PeerInfo info = protocol::peer_info(peer);
    if (!info.extended || info.mode_told == own) continue;
    if (told.exchange(true, std::memory_order_relaxed)) return;
    log(LogLevel::warn,
        "{}: {} has OMX_WIRE_MODE={}, and this process {}: messages between the two have the sizes of native "
        "MX, "
        "which is slower; give both the same OMX_WIRE_MODE",
        core_.board.interface.name, names_.text(info.nic, info.endpoint), mode_text(info.mode_told),
        mode_text(own));
    return;
  }
}

void PeerReports::frame_sizes() {
  if (!log_enabled(LogLevel::info)) return;
  const std::uint32_t count = core_.engine->peer_count();
  logged_.resize(count);
  for (std::uint32_t i = 0; i < count; i++) {
    protocol::Peer* peer = core_.engine->peer_at(i);
    if (!peer || peer == core_.engine->self()) continue;
    const protocol::PeerInfo info = protocol::peer_info(peer);
    const auto sizes = std::pair(info.frame_agreed, info.frame_max);
    if (info.frame_agreed == 0 || sizes == logged_[i]) continue;
    logged_[i] = sizes;
    log(LogLevel::info, "{} endpoint {}: frames to {}: {} bytes agreed (ours {}), {} proven",
        core_.board.interface.name, core_.id, names_.text(info.nic, info.endpoint), info.frame_agreed,
        core_.link->interface().mtu() + wire::kEthernetHeader, info.frame_max);
  }
}

}  // namespace omx::runtime
