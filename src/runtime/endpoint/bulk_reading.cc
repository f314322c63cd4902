// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/bulk_reading.h"

#include "base/log.h"

namespace omx::runtime {

namespace {

// How long a path is polled after it held frames. A poll costs a system call, an announcement a frame that
// may come late.
constexpr TimeNs kBusyNs = protocol::kMillisecond / 5;

}  // namespace

void BulkReading::placement_choose() {
  const protocol::Endpoint::Pace pace = core_.engine->pull_pace();
  const int bulk = descriptor_of(core_.link->bulk_path());
  placement_.choose(*core_.link, pace.bytes, pace.busy);
  // A sleeping thread does not listen to the new descriptor yet.
  if (descriptor_of(core_.link->bulk_path()) != bulk) waiters_.wake_sleeper();
  if (!placement_.news()) return;
  const PlacementTrial& trial = placement_.trial();
  log(LogLevel::info,
      "{} endpoint {}: large messages by frames are put into their place by {}: tried now, by the kernel "
      "{:.1f} and from the ring {:.1f} Gb/s",
      core_.board.interface.name, core_.id, trial.by_kernel() ? "the kernel" : "us, from the ring",
      static_cast<double>(trial.kernel_rate()) * 8 / 1e6, static_cast<double>(trial.ring_rate()) * 8 / 1e6);
}

std::size_t BulkReading::read(std::size_t budget) {
  const bool late = late_ || core_.now - polled_ >= kPollPeriod;
  if (late) polled_ = core_.now;
  const std::size_t by_bulk = udp_bulk_turn(late, budget);
  const std::size_t frames = by_bulk + bulk_turn(late, budget);
  late_ = frames >= budget;
  return frames;
}

std::size_t BulkReading::udp_bulk_turn(bool late, std::size_t budget) {
  // Frames that are not announced yet are found sooner. But a thread that yields leaves that time to others.
  udp_bulk_polls_ = late || (core_.now < udp_bulk_busy_until_ && !spin_budget_.yields());
  if (!udp_bulk_polls_ && !core_.engine->bulk_wanted(core_.now)) return 0;
  link::UdpBulkPath* const path = core_.link->udp_bulk_path();
  if (!path) return 0;
  const std::size_t frames = path->receive(*this, budget);
  if (frames > 0) {
    udp_bulk_busy_until_ = core_.now + kBusyNs;
    core_.engine->bulk_came();
  }
  return frames;
}

std::size_t BulkReading::bulk_turn(bool late, std::size_t budget) {
  const bool asked = core_.engine->pulls_by_link();
  if (!late && !asked && core_.now >= bulk_busy_until_) return 0;
  if (core_.engine->bulk_seen() && !core_.by_ring()) placement_choose();
  std::size_t frames = placement_.receive(*core_.link, *this, budget, late);
  if (!rails_.empty()) [[unlikely]]
    frames += rails_.receive_bulk(budget);
  // Frames that were not asked for by this link show that the sender no longer uses our UDP bulk path.
  if (frames > 0 && !asked) bulk_busy_until_ = core_.now + kBusyNs;
  return frames;
}

}  // namespace omx::runtime
