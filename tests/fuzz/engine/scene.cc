// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/engine/scene.h"

#include "tests/fuzz/engine/oracle.h"
#include "tests/fuzz/require.h"

namespace omx::fuzz {

namespace {

constexpr TimeNs kCable = 5'000;
constexpr std::size_t kSeen = 48;

bool is_honest_host(NicId nic) {
  for (unsigned i = 0; i < protocol::kRailsMost; i++)
    if (nic == board_nic(kHonestNic, i)) return true;
  return false;
}

bool is_honest(const Bytes& frame) {
  return is_honest_host(mac_load(frame.data())) && wire::destination_endpoint(frame) == kHonestEndpoint;
}

}  // namespace

Setup::Setup(Script& script) {
  const std::uint8_t a = script.u8();
  const std::uint8_t b = script.u8();
  victim.nic = kVictimNic;
  victim.endpoint = kVictimEndpoint;
  victim.session = kVictimSession;
  victim.key = kKey;
  victim.mode = a & 1 ? wire::Mode::mxoe : wire::Mode::omx;
  victim.extension = !(a & 2);
  victim.checksum = a & 4;
  relaxed = a & 8;
  constexpr std::uint32_t kMtus[] = {1500, 9000, 2048, 65535};
  victim.mtu = kMtus[a >> 4 & 3];
  victim.reliability.peer_timeout = kPeerTimeout;
  victim.max_peers = 64;
  honest = victim;
  constexpr std::uint32_t kThresholds[] = {32768, 128, 1000, 5000};
  constexpr std::uint64_t kBuffers[] = {256 << 10, 64 << 10, 128 << 10, 1 << 20};
  victim.rndv_threshold = kThresholds[b & 3];
  victim.buffer_bytes = kBuffers[b >> 2 & 3];
  victim.envelope_bytes = 64 << 10;
  victim.send_buffer_bytes = b & 16 ? 0 : 64 << 10;
  if (b & 32) victim.pull_blocks = 1;
  if (b & 64) victim.buffered_sends_max = 1;
  attacker_connected = !(b & 128);
  honest.nic = kHonestNic;
  honest.endpoint = kHonestEndpoint;
  honest.session = kHonestSession;
  honest.extension = !(a & 64);
  if ((b & 96) == 96) {  // instead of the smaller one of both
    const std::uint8_t c = script.u8();
    boards = 2 + (c & 3) % 3;
    victim.pull_blocks = c & 8 ? 1 : honest.pull_blocks;
    for (unsigned i = 0; i < boards; i++) {
      victim.rails.nics[i] = board_nic(kVictimNic, i);
      if (c & 4) honest.rails.nics[i] = board_nic(kHonestNic, i);
    }
    victim.rails.count = static_cast<std::uint8_t>(boards);
    if (c & 4) honest.rails.count = victim.rails.count;
    victim.rail_secret = honest.rail_secret = 0x5EC2E8;
  }
  honest.buffer_bytes = 16 << 20;
  honest.rndv_threshold = 9000;
  attacker_extended = !(a & 128);
  for (protocol::Config* config : {&victim, &honest}) {
    config->bulk.address = bulk_of(config->nic);
    config->bulk.address.frame =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(victim.mtu - 28, wire::kGsoBatchBytes));
    config->bulk.network_bits = 96;
    config->bulk.window = 256 << 10;
    config->bulk.secret = 0x5EC2E7;
    config->bulk_rndv_threshold = 9000;  // a message must fit the victim's small memory
  }
}

wire::BulkAddress bulk_of(NicId nic) {
  wire::BulkAddress bulk;
  bulk.ip[15] = static_cast<std::uint8_t>(nic);
  bulk.port = 1000;
  bulk.frame = 1472;
  return bulk;
}

wire::TxFrame& Node::frame_begin(std::uint32_t max_segments) {
  segments_.resize(max_segments + 1);
  frame_.segments = segments_.data();
  frame_.segment_count = frame_.header_length = 0;
  bulk_ = {};
  return frame_;
}

wire::TxFrame& Node::bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) {
  frame_begin(max_segments);
  bulk_ = to;
  return frame_;
}

void Node::hear(TimeNs now, const Bytes& frame) {
  const std::size_t board = endpoint.config().rails.place(mac_load(frame.data()));
  if (board == 0 || board == protocol::kRailsMost)
    endpoint.on_frame(now, frame);
  else
    endpoint.on_frame_by(now, static_cast<unsigned>(board), frame);
}

void Node::frame_commit() {
  Bytes bytes(frame_.header, frame_.header + frame_.header_length);
  for (std::uint32_t i = 0; i < frame_.segment_count; i++) {
    const auto* piece = static_cast<const std::byte*>(segments_[i].iov_base);
    bytes.insert(bytes.end(), piece, piece + segments_[i].iov_len);
  }
  if (bytes.size() < wire::kMinFrame) bytes.resize(wire::kMinFrame);
  scene_.sent(*this, std::move(bytes), bulk_);
}

Scene::Scene(const Setup& s) : setup(s), victim(*this, s.victim), honest(*this, s.honest) {}

void Scene::introduce() {
  for (const bool back : {false, true}) {
    Node& from = back ? honest : victim;
    Node& to = back ? victim : honest;
    const protocol::Config& peer = to.endpoint.config();
    const auto r = from.endpoint.connect(now, peer.nic, peer.endpoint, kKey, 0, nullptr, false);
    REQUIRE(r.has_value());
    for (int i = 0; i < 1000 && !from.endpoint.done(*r); i++) advance(kMillisecond);
    REQUIRE(from.endpoint.done(*r));
    const auto c = from.endpoint.consume(*r);
    REQUIRE(c.status == protocol::Status::success);
    (back ? to_victim : to_honest) = c.peer;
  }
  advance(50 * kMillisecond);
  seen.clear();
}

void Scene::sent(const Node& from, Bytes frame, const wire::BulkAddress& bulk) {
  const NicId to = mac_load(frame.data());
  const bool to_its_bulk = bulk.ip == bulk_of(to).ip && bulk.port == bulk_of(to).port;
  if (&from == &victim && bulk.present() && !to_its_bulk) {
    // A bulk path where another process reads, or none. The peer that announced it has not proven that it is
    // there.
    if (bulk.ip == bulk_of(kHonestNic).ip)
      REQUIRE(frame[16] == static_cast<std::byte>(wire::PacketType::probe));
    return;
  }
  if (&from == &victim) {
    frames_out_++;
    REQUIRE(frame.size() <= state().own_frame);
    if (!is_honest(frame)) check_leak(frame);
  }
  if (seen.size() == kSeen) seen.pop_front();
  seen.push_back(frame);
  if (&from == &victim && !is_honest(frame)) return;
  if (losing > 0) {
    losing--;
    return;
  }
  (&from == &victim ? to_honest_ : to_victim_).push_back({now + kCable, std::move(frame)});
}

void Scene::deliver() {
  while (!to_honest_.empty() && to_honest_.front().at <= now) {
    const Bytes frame = std::move(to_honest_.front().frame);
    to_honest_.pop_front();
    honest.hear(now, frame);
  }
  while (!to_victim_.empty() && to_victim_.front().at <= now) {
    const Bytes frame = std::move(to_victim_.front().frame);
    to_victim_.pop_front();
    victim.hear(now, frame);
  }
}

void Scene::look() {
  for (Player* player : players) player->look();
}

void Scene::advance(TimeNs time) {
  const TimeNs end = now + time;
  TimeNs millisecond = now / kMillisecond;
  std::uint64_t wakes = 0, frames = 0;
  for (;;) {
    TimeNs next = std::min(victim.endpoint.next_deadline(), honest.endpoint.next_deadline());
    if (!to_honest_.empty()) next = std::min(next, to_honest_.front().at);
    if (!to_victim_.empty()) next = std::min(next, to_victim_.front().at);
    if (next > end) break;
    now = std::max(now, next);
    if (now / kMillisecond != millisecond) {
      millisecond = now / kMillisecond;
      wakes = frames = 0;
    }
    const std::size_t flying = to_honest_.size() + to_victim_.size();
    deliver();
    frames += flying;
    victim.endpoint.progress(now);
    honest.endpoint.progress(now);
    // No deadline is due at the time for which the engine was just called.
    REQUIRE(victim.endpoint.next_deadline() > now);
    REQUIRE(++wakes <= wake_limit(state()) + 2 * frames);
    check_bounds(*this);
    look();
  }
  now = end;
  look();
}

void Scene::attack(const Bytes& frame, bool progress) {
  const std::uint64_t before = frames_out_;
  const std::uint64_t limit = answer_limit(state());
  now += 100;
  victim.hear(now, frame);
  if (progress) victim.endpoint.progress(now);
  REQUIRE(frames_out_ - before <= limit);
  check_bounds(*this);
  look();
}

}  // namespace omx::fuzz
