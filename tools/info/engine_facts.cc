// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/engine_facts.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "protocol/endpoint.h"
#include "protocol/state/peer.h"

namespace omx::tools {

namespace {

// Rounds of a millisecond: enough for the frame size probes, which the engine sends some milliseconds apart.
constexpr int kRounds = 200;
constexpr std::uint32_t kMediumHeader = 48;
constexpr std::uint32_t kPullReplyHeader = 32;

class Wire final : public wire::FrameSink {
 public:
  wire::TxFrame& frame_begin(std::uint32_t max_segments) override {
    segments_.resize(max_segments);
    frame_.segments = segments_.data();
    frame_.segment_count = 0;
    return frame_;
  }
  void frame_commit() override {
    std::vector<std::byte> bytes(frame_.header, frame_.header + frame_.header_length);
    for (std::uint32_t i = 0; i < frame_.segment_count; i++) {
      const auto* data = static_cast<const std::byte*>(frame_.segments[i].iov_base);
      bytes.insert(bytes.end(), data, data + frame_.segments[i].iov_len);
    }
    if (bytes.size() < wire::kMinFrame) bytes.resize(wire::kMinFrame);
    frames_.push_back(std::move(bytes));
  }
  void flush() override {}

  std::vector<std::vector<std::byte>> take() { return std::exchange(frames_, {}); }

 private:
  wire::TxFrame frame_;
  std::vector<iovec> segments_;
  std::vector<std::vector<std::byte>> frames_;
};

struct Side {
  Side(const protocol::Config& config) : endpoint(config, wire, counters) {}
  Wire wire;
  protocol::Counters counters;
  protocol::Endpoint endpoint;
};

protocol::Config side_config(protocol::Config config, std::uint32_t mtu, NicId nic) {
  config.nic = nic;
  config.mtu = mtu;
  config.session = static_cast<std::uint32_t>(nic);
  return config;
}

}  // namespace

EngineFacts engine_facts(const protocol::Config& settings, std::uint32_t mtu, bool extended) {
  constexpr NicId kUs = 0x020000000001;
  constexpr NicId kPeer = 0x020000000002;
  const protocol::Config ours = side_config(settings, mtu, kUs);
  protocol::Config theirs = side_config(settings, mtu, kPeer);
  if (!extended) theirs.extension = false;
  Side us(ours);
  Side them(theirs);

  protocol::TimeNs now = protocol::kMillisecond;
  (void)us.endpoint.connect(now, kPeer, 0, theirs.key, 0, nullptr, true);
  for (int i = 0; i < kRounds; i++, now += protocol::kMillisecond) {
    for (const auto& frame : us.wire.take()) them.endpoint.on_frame(now, frame);
    for (const auto& frame : them.wire.take()) us.endpoint.on_frame(now, frame);
    us.endpoint.progress(now);
    them.endpoint.progress(now);
  }

  EngineFacts facts;
  const protocol::Peer* peer = us.endpoint.find_peer(kPeer, 0);
  if (!peer || peer->session.true_session == wire::kUnknownSession) return facts;
  facts.connected = true;
  facts.mode = peer->agreed.mode;
  facts.checksum = peer->agreed.checksum;
  facts.eager_max = us.endpoint.eager_max(peer);
  facts.medium_frag = peer->agreed.sizes.medium_frag;
  facts.pull_reply = peer->agreed.sizes.pull_reply_max;
  facts.pull_frames = peer->agreed.sizes.pull_frames;
  facts.pull_blocks = settings.pull_blocks;
  // Only our own message sizes depend on the frame size. The sizes of MX are fixed and decide how large its
  // frames are.
  if (peer->agreed.extended && peer->agreed.mode == wire::Mode::omx) {
    facts.frame_max = peer->agreed.frame_max;
    facts.proven_by_probe = us.counters[protocol::Counter::send_probe] > 0;
  } else {
    facts.frame_max = std::max(facts.medium_frag + kMediumHeader, facts.pull_reply + kPullReplyHeader);
  }
  return facts;
}

}  // namespace omx::tools
