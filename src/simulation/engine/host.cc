// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/host.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "simulation/engine/world.h"

namespace omx::simulation {

namespace {
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::size_t kTypeAt = 16;
constexpr std::size_t kBulkBatch = 16;
constexpr std::size_t kBulkFrames = 512;  // capacity of the bulk path's socket
constexpr std::uint32_t kUdpOverhead = 28;
constexpr TimeNs kBulkLookAfter = protocol::kMillisecond;  // also if the engine awaits nothing by it
constexpr std::uint64_t kBulkLook = 1, kCopies = 2;
}  // namespace

SimHost::SimHost(World& world, std::uint32_t index, const HostOptions& options)
    : world_(world), index_(index), options_(options), port_(options.port), gso_random_(index + 1) {
  options_.config.nic = world.nic_of(index);
  if (options_.bulk) {
    wire::BulkAddress& bulk = options_.config.bulk.address;
    bulk.ip[15] = static_cast<std::uint8_t>(index);
    bulk.port = 1;
    bulk.frame = static_cast<std::uint16_t>(options_.config.mtu - kUdpOverhead);
    options_.config.bulk.network_bits = 120;
    options_.config.bulk.window = 256U << 10;
  }
  if (!options_.rails.empty()) {
    wire::RailNics& rails = options_.config.rails;
    rails.count = static_cast<std::uint8_t>(1 + options_.rails.size());
    for (unsigned i = 0; i < rails.count; i++) rails.nics[i] = World::nic_of(index, i);
    for (const PortLimits& limits : options_.rails) rails_.emplace_back(limits);
    options_.config.rail_secret = index + 1;
  }
  if (options_.copies_seed != 0) {
    copies_.emplace(
        options_.copies_seed, [this] { return world_.now(); },
        [this](TimeNs at) { world_.schedule(at, *this, kCopies); });
    options_.config.offload = &*copies_;
    options_.config.bulk.pulls = options_.copies_seed % 2 == 0;
  }
  open();
}

SimHost::~SimHost() {
  crash();
}

void SimHost::open() {
  options_.config.session = world_.session_next();
  engine_ = std::make_unique<protocol::Endpoint>(options_.config, *this, counters_);
}

TimeNs SimHost::clock() const {
  const TimeNs now = world_.now();
  return now + static_cast<TimeNs>(static_cast<__int128>(now) * options_.clock_ppm / kMillion);
}

// Returns the first instant at which the host's clock shows this time.
TimeNs SimHost::true_time(TimeNs clock) const {
  if (clock == protocol::kNever) return clock;
  const auto scaled = static_cast<unsigned __int128>(clock) * kMillion;
  const auto rate = static_cast<unsigned __int128>(kMillion + options_.clock_ppm);
  return static_cast<TimeNs>((scaled + rate - 1) / rate) + (options_.clock_ppm != 0 ? 1 : 0);
}

void SimHost::deadline_check() {
  if (!engine_ || paused_) return;
  const TimeNs due = engine_->sleep_deadline(clock());
  const TimeNs at = std::max(true_time(due), world_.now());
  if (at >= wake_at_ || due == protocol::kNever) return;
  wake_at_ = at;
  world_.schedule(at, *this, 0);
}

void SimHost::on_event(std::uint64_t argument) {
  if (argument == kBulkLook) {
    if (!udp_bulk_.empty() && engine_ && !paused_) ring_process(true);
    return;
  }
  if (argument == kCopies) {
    copies_->progress();
    held_give_back();
    if (!engine_ || paused_ || !engine_->copies_awaited()) return;
    engine_->progress(clock());
    world_.activity(*this);
    return deadline_check();
  }
  if (world_.now() >= wake_at_) wake_at_ = protocol::kNever;
  if (!engine_ || paused_) return;
  if (engine_->next_deadline() <= clock()) {
    engine_->progress(clock());
    world_.activity(*this);
  }
  deadline_check();
}

void SimHost::frame_arrived(std::uint32_t frame) {
  SimFrame& f = world_.frames()[frame];
  if (!engine_ || f.packet() > options_.config.mtu + std::size_t{wire::kEthernetHeader}) {
    world_.frames().destroy(frame);
    return;
  }
  held_give_back();  // the engine may have waited for copies
  const bool blocked = f.bulk && world_.now() >= options_.bulk_dies_at;
  if (f.bulk ? blocked || udp_bulk_.size() >= kBulkFrames
             : ring_.size() + held_.size() >= options_.ring_frames) {
    ring_drops_++;
    world_.frames().destroy(frame);
    return;
  }
  if (f.bulk) world_.schedule(world_.now() + kBulkLookAfter, *this, kBulkLook);
  (f.bulk ? udp_bulk_ : ring_).push_back(frame);
  if (!paused_) ring_process();
}

void SimHost::ring_process(bool bulk_too) {
  std::array<std::vector<std::uint32_t>, wire::kRailsMost> bulk;
  while (!ring_.empty()) {
    const std::uint32_t frame = ring_.front();
    ring_.pop_front();
    const auto& bytes = world_.frames()[frame].bytes;
    // Frames received into their final place need no copy.
    const bool place = !copies_ || frame % 2 == 0;
    if (place && bytes.size() > kTypeAt &&
        bytes[kTypeAt] == static_cast<std::byte>(wire::PacketType::pull_reply)) {
      bulk[world_.frames()[frame].rail].push_back(frame);
      continue;
    }
    frame_process(frame);
  }
  for (unsigned rail = 0; rail < boards(); rail++) {
    const std::span<const std::uint32_t> frames(bulk[rail]);
    for (std::size_t i = 0; i < frames.size(); i += kBulkBatch)
      bulk_process(frames.subspan(i, std::min(kBulkBatch, frames.size() - i)), false, rail);
  }
  if (bulk_too || engine_->pulls_running() || engine_->bulk_awaited(clock())) udp_bulk_process();
  engine_->progress(clock());
  world_.activity(*this);
  deadline_check();
}

void SimHost::udp_bulk_process() {
  if (!udp_bulk_.empty()) engine_->bulk_came();
  while (!udp_bulk_.empty()) {
    std::vector<std::uint32_t> batch;
    for (; !udp_bulk_.empty() && batch.size() < kBulkBatch; udp_bulk_.pop_front())
      batch.push_back(udp_bulk_.front());
    bulk_process(batch, true);
  }
}

void SimHost::frame_process(std::uint32_t frame) {
  const SimFrame& f = world_.frames()[frame];
  engine_->frames_marked(f.marked);
  if (f.rail == 0)
    engine_->on_frame(clock(), f.bytes);
  else
    engine_->on_frame_by(clock(), f.rail, f.bytes);
  const std::uint64_t ticket = copies_ ? copies_->taken() : 0;
  if (ticket == 0) return frame_done(frame);
  world_.delivered(*this, world_.frames()[frame]);
  held_.push_back({frame, ticket});
}

// Gives back slots and spoils them, because no copy may read them any more.
void SimHost::held_give_back() {
  while (!held_.empty() && held_.front().ticket <= copies_->completed()) {
    auto& bytes = world_.frames()[held_.front().frame].bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0xEE});
    world_.frames().destroy(held_.front().frame);
    held_.pop_front();
  }
}

void SimHost::frame_done(std::uint32_t frame) {
  world_.delivered(*this, world_.frames()[frame]);
  world_.frames().destroy(frame);
}

// Hands over the frames of a batch as the bulk path of the link does. The data of all frames go where the
// engine expects them. Only then does it turn out which of them belong there.
void SimHost::bulk_process(std::span<const std::uint32_t> batch, bool by_bulk, unsigned rail) {
  std::array<protocol::ExpectedFrame, kBulkBatch> expected;
  const auto room = std::span(expected).first(batch.size());
  const std::size_t known =
      by_bulk ? engine_->expected_by_bulk(clock(), room) : engine_->expected_replies(room, rail);
  for (std::size_t i = 0; i < known; i++) {
    const auto& bytes = world_.frames()[batch[i]].bytes;
    const std::size_t header = expected[i].header;
    const std::size_t data = bytes.size() - std::min(bytes.size(), header);
    if (data > 0)
      std::memcpy(expected[i].place, bytes.data() + header, std::min<std::size_t>(data, expected[i].length));
  }
  std::array<bool, kBulkBatch> placed{};
  for (std::size_t i = 0; i < known; i++)
    placed[i] = engine_->is_expected(expected[i], world_.frames()[batch[i]].bytes);
  for (std::size_t i = 0; i < batch.size(); i++) {
    auto& bytes = world_.frames()[batch[i]].bytes;
    if (placed[i]) {
      // Only the header of these frames is still there.
      std::fill(bytes.begin() + expected[i].header, bytes.end(), std::byte{0xDD});
      engine_->frames_marked(world_.frames()[batch[i]].marked);
      engine_->on_placed(clock(), expected[i], bytes, rail);
    } else {
      frame_process(batch[i]);
      continue;
    }
    frame_done(batch[i]);
  }
}

void SimHost::pause() {
  paused_ = true;
}

void SimHost::resume() {
  if (!paused_) return;
  paused_ = false;
  if (engine_) ring_process(true);
}

void SimHost::crash() {
  for (const std::uint32_t frame : ring_) world_.frames().destroy(frame);
  for (const std::uint32_t frame : udp_bulk_) world_.frames().destroy(frame);
  for (const Held& held : held_) world_.frames().destroy(held.frame);
  ring_.clear();
  udp_bulk_.clear();
  held_.clear();
  if (copies_) copies_->forget();
  engine_.reset();
}

void SimHost::restart() {
  crash();
  paused_ = false;
  open();
}

wire::TxFrame& SimHost::frame_begin(std::uint32_t max_segments) {
  if (segments_.size() < max_segments) segments_.resize(max_segments);
  by_bulk_ = false;
  by_rail_ = 0;
  tx_.segments = segments_.data();
  tx_.header_length = tx_.segment_count = tx_.cut = 0;
  return tx_;
}

wire::TxFrame& SimHost::bulk_begin(const wire::BulkAddress&, std::uint32_t max_segments) {
  wire::TxFrame& frame = frame_begin(max_segments);
  by_bulk_ = true;
  return frame;
}

wire::TxFrame& SimHost::rail_begin(unsigned rail, std::uint32_t max_segments) {
  wire::TxFrame& frame = frame_begin(max_segments);
  by_rail_ = rail;
  return frame;
}

void SimHost::frame_commit() {
  const std::uint32_t index = world_.frames().create();
  SimFrame& frame = world_.frames()[index];
  frame.from = index_;
  frame.bulk = by_bulk_;
  frame.rail = by_rail_;
  frame.bytes.assign(tx_.header, tx_.header + tx_.header_length);
  for (std::uint32_t i = 0; i < tx_.segment_count; i++) {
    const auto* data = static_cast<const std::byte*>(tx_.segments[i].iov_base);
    frame.bytes.insert(frame.bytes.end(), data, data + tx_.segments[i].iov_len);
  }
  if (frame.bytes.size() < wire::kMinFrame) frame.bytes.resize(wire::kMinFrame);
  frame.cut = tx_.cut;
  if (frame.bytes.size() > frame.packet() && gso_random_.chance(options_.gso_cut)) {
    const std::size_t datagrams = (frame.bytes.size() - 1) / frame.cut;  // without the last one
    frame.bytes.resize((1 + gso_random_.below(datagrams)) * frame.cut);
  }
  world_.transmit(*this, index);
}

}  // namespace omx::simulation
