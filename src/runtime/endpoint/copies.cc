// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/affinity.h"
#include "base/cache_topology.h"
#include "base/clock.h"
#include "copy/calibration.h"
#include "copy/engines.h"
#include "wire/packets.h"
#include "wire/sizes.h"

namespace omx::runtime {

namespace {
// How long a wait takes at most, since it polls nothing else: about as long as one turn.
constexpr TimeNs kWait = 200'000;
constexpr std::uint32_t kPoll = 64;

// Returns the data bytes of a full frame of a large message.
std::uint32_t frame_data(const link::Transport& link) {
  const std::uint32_t frame = link.interface().mtu() + static_cast<std::uint32_t>(wire::kEthernetHeader);
  return wire::extended_sizes(wire::Mode::omx, frame, 0).pull_reply_max;
}
}  // namespace

copy::Policy copy_policy(const Settings& settings, const copy::Calibration& calibration,
                         const CacheFacts& caches) {
  copy::Policy policy;
  constexpr std::uint32_t kAutomatic = CopySettings::kAutomatic;
  policy.tuned = settings.copy.min_message == kAutomatic;
  if (!policy.tuned) policy.min_message = settings.copy.min_message;
  policy.medium = settings.copy.medium;
  policy.min_waited = settings.copy.min_waited;
  if (policy.min_waited == kAutomatic)
    policy.min_waited = caches.host_shares ? copy::kWaitedShared : copy::kWaitedApart;
  policy.warm = settings.copy.warm;
  if (policy.warm == kAutomatic) policy.warm = caches.engine_fills ? 0 : copy::kWarmHead;
  policy.min_piece = settings.copy.min_piece > 0 ? settings.copy.min_piece : calibration.least_piece;
  return policy;
}

CacheFacts cache_facts(const copy::Capabilities& engine) {
  return {cache_shared(processors_online()), engine.cached};
}

copy::EngineOptions copy_options(const Settings& settings) {
  copy::EngineOptions options;
  options.channels = settings.copy.channels;
  return options;
}

bool ring_better(const Settings& settings, const copy::Calibration& calibration, std::uint32_t piece) {
  if (settings.placement != Placement::automatic) return settings.placement == Placement::ring;
  const copy::Calibration::Row& row = calibration.row_for(piece);
  return piece >= copy_policy(settings, calibration, {}).min_piece && row.submit_ns < row.place_ns;
}

Result<std::unique_ptr<Copies>> Copies::create(const Settings& settings, link::Transport& link) {
  // The device is searched for once, since most machines have none.
  static std::atomic<bool> no_device{false};
  copy::EngineKind kind = settings.copy.engine;
  const bool optional = kind == copy::EngineKind::automatic;
  if (kind == copy::EngineKind::cpu || (optional && no_device)) return nullptr;
  if (optional) kind = copy::EngineKind::dsa;
  auto engine = copy::engine_create(kind, copy_options(settings));
  if (!engine && optional) {
    no_device = true;
    return nullptr;
  }
  if (!engine) return tl::unexpected(engine.error());
  if (!(*engine)->capabilities().asynchronous || !link.ring()) return nullptr;
  const copy::Calibration& calibration = copy::calibration(kind, **engine);
  const copy::Policy policy = copy_policy(settings, calibration, cache_facts((*engine)->capabilities()));
  if (policy.min_piece == ~0U && optional) return nullptr;
  if (policy.min_piece == ~0U && calibration.too_slow)
    return fail(0, fmt::format("the {} engine copies slower than the processor, as measured: "
                               "OMX_COPY_MIN_PIECE says from where on it is used all the same",
                               copy::engine_name(kind)));
  if (policy.min_piece == ~0U)
    return fail(0, fmt::format("no piece is cheaper to hand to the {} engine than to copy, as measured: "
                               "OMX_COPY_MIN_PIECE says from where on it is used all the same",
                               copy::engine_name(kind)));
  const bool ring = ring_better(settings, calibration, frame_data(link));
  if (!link.ring()->hold_enable()) return nullptr;
  return std::make_unique<Copies>(std::move(*engine), policy, calibration, link, ring);
}

Copies::Copies(std::unique_ptr<copy::CopyEngine> engine, const copy::Policy& policy,
               const copy::Calibration& calibration, link::Transport& link, bool ring)
    : engine_(std::move(engine)),
      policy_(policy),
      threshold_(policy.min_message, policy.tuned),
      costs_(calibration.row_for(frame_data(link))),
      link_(link),
      ring_(ring) {}

void Copies::ended(std::uint64_t message_bytes, TimeNs waited) {
  const TimeNs saved = costs_.memcpy_out_ns > costs_.submit_ns ? costs_.memcpy_out_ns - costs_.submit_ns : 0;
  threshold_.ended(message_bytes, saved * (message_bytes / std::max(costs_.bytes, 1U)), waited);
}

protocol::Offload::Answer Copies::copy(const Copy& copy, std::uint64_t& ticket) {
  if (copy.message.medium ? !policy_.medium : copy.offset < policy_.warm) return Answer::refused;
  const copy::Piece piece{copy.from, copy.to, copy.bytes, false, copy.message.number};
  if (frames_ == Frames::passing) return Answer::refused;
  if (frames_ == Frames::of_neighbours) {
    if (!copy::wait_worth(policy_, engine_->capabilities(), copy.message.bytes, copy.bytes))
      return Answer::refused;
    copy::Ticket waited = 0;
    if (copy::copy_wait(*engine_, policy_, piece, &waited)) return Answer::copied;
    // The device may still write the piece. That does not concern the ring, unless other copies failed as
    // well.
    abandon_ = abandon_ || failed(seen_ + 1, waited - 1);
    seen_ = ticket = waited;
    return Answer::later;
  }
  if (!worth(copy)) return Answer::refused;
  const std::uint32_t most = copy::slots_held_most(link_.ring()->slots());
  if (link_.ring()->held() >= most) completed();
  if (link_.ring()->held() >= most) return Answer::refused;
  const copy::Submission submission = engine_->submit(piece);
  if (submission.answer != copy::Answer::accepted) return Answer::refused;
  taken_ = ticket = submission.ticket;
  return Answer::later;
}

bool Copies::worth(const Copy& copy) {
  if (copy.message.medium) return copy::piece_worth(policy_, engine_->capabilities(), copy.bytes);
  return copy::offload_worth(policy_, engine_->capabilities(), copy.message.bytes, copy.bytes) &&
         threshold_.worth(copy.message.bytes, copy.bytes);
}

std::uint64_t Copies::completed() {
  engine_->poll(kPoll);
  const copy::Ticket done = engine_->completed();
  // The engine is off after a failure, so this check is rare.
  if (!abandon_ && done != seen_ && *engine_->disabled_reason() && failed(seen_ + 1, done)) abandon_ = true;
  seen_ = done;
  // A copy may be done before the link knows that its frame stays.
  if (!abandon_ && link_.ring()->held() > 0) link_.ring()->give_back(done);
  return done;
}

bool Copies::failed(std::uint64_t first, std::uint64_t last) const {
  if (!*engine_->disabled_reason()) return false;
  for (std::uint64_t ticket = first; ticket <= last; ticket++)
    if (engine_->failed(ticket)) return true;
  return false;
}

void Copies::tend() {
  completed();
  // Frames that are not held wait behind those that are, and the ring must not run dry.
  if (link_.ring()->held() > link_.ring()->slots() / 2) wait(kNever);
  if (!abandon_ || engine_->outstanding() > 0) return;
  link_.ring()->abandon();
  abandon_ = false;
}

void Copies::drain() {
  engine_->drain(kNever);
  completed();
}

void Copies::wait(TimeNs deadline) {
  engine_->drain(std::min(deadline, clock_now() + kWait));
  completed();
}

}  // namespace omx::runtime
