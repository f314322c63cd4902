// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/host.h"

#include <algorithm>

#include "base/mac.h"
#include "protocol/state/state.h"
#include "wire/packets.h"

namespace omx::simulation::fabric {

namespace {
constexpr std::uint64_t kPoll = 1, kWake = 2;
constexpr std::uint32_t kInline = 128;  // longest message within one packet of its own
constexpr std::uint32_t kFirstSession = 0x1001;
}  // namespace

using protocol::Counter;
using protocol::kNever;
using protocol::RequestKind;

Host::Host(HostSurroundings& fabric, std::uint32_t index)
    : fabric_(fabric), index_(index), random_(fabric.options().seed * 0x10001 + index) {
  protocol::Config config = fabric.options().config;
  config.nic = nic_of(index);
  config.session = kFirstSession + index;
  config.reliability.defers_from = protocol::kDeferredLeast;  // as the libfabric provider
  engine_ = std::make_unique<protocol::Endpoint>(config, *this, counters_);
  post();
}

Host::~Host() = default;

bool Host::connect(std::uint32_t to) {
  const bool begun = engine_->connect(fabric_.now(), nic_of(to), 0, 0, 0, nullptr, false).has_value();
  wake_schedule();
  return begun;
}

bool Host::nic_full() const {
  return fabric_.nic_queued(index_) > fabric_.options().nic_bytes;
}

void Host::send(std::uint32_t to, std::uint32_t length, std::uint64_t match_info) {
  sends_.push_back({to, length, match_info});
  poll_at(fabric_.now());
}

void Host::start(const Waiting& send) {
  const protocol::Segment segment{fabric_.sent_bytes().data(), send.length};
  protocol::SendOp op;
  op.peer = engine_->find_peer(nic_of(send.to), 0);
  op.segments = {&segment, 1};
  op.match_info = send.match_info;
  if (engine_->send(fabric_.now(), op)) return;
  protocol::Completion refused;
  refused.status = protocol::Status::no_resources;
  refused.match_info = send.match_info;
  fabric_.completed(*this, refused);
}

void Host::post() {
  const std::span<std::byte> memory = fabric_.received_bytes();
  const protocol::Segment segment{memory.data(), static_cast<std::uint32_t>(memory.size())};
  protocol::ReceiveOp op;
  op.segments = {&segment, 1};
  op.match_mask = 0;
  for (; posted_ < fabric_.options().receives; posted_++)
    if (!engine_->receive(fabric_.now(), op)) return;
}

void Host::arrived(std::uint32_t packet) {
  if (ring_.size() >= fabric_.options().ring_frames) {
    fabric_.packets().destroy(packet);
    return fabric_.ring_dropped();
  }
  ring_.push_back(packet);
  const FabricOptions& o = fabric_.options();
  poll_at(fabric_.now() + o.poll_least + random_.below(o.poll_most - o.poll_least + 1));
}

void Host::poll_at(TimeNs at) {
  if (at >= poll_at_) return;
  poll_at_ = at;
  fabric_.schedule(at, *this, kPoll);
}

void Host::wake_schedule() {
  const TimeNs at = std::max(engine_->next_deadline(), fabric_.now());
  if (at >= wake_at_ || engine_->next_deadline() == kNever) return;
  wake_at_ = at;
  fabric_.schedule(at, *this, kWake);
}

void Host::on_event(std::uint64_t argument) {
  TimeNs& due = argument == kPoll ? poll_at_ : wake_at_;
  if (fabric_.now() < due) return;  // an earlier event did the work
  due = kNever;
  if (nic_full())
    return poll_at(fabric_.now() +
                   fabric_.nic_time(fabric_.nic_queued(index_) - fabric_.options().nic_bytes) + 1);
  if (argument == kPoll || engine_->next_deadline() <= fabric_.now()) poll();
  wake_schedule();
}

void Host::poll() {
  const TimeNs now = fabric_.now();
  for (std::size_t count = ring_.size(); count > 0; count--) {
    const std::uint32_t packet = ring_.front();
    ring_.pop_front();
    engine_->frames_marked(fabric_.packets()[packet].marked);
    engine_->on_frame(now, fabric_.packets()[packet].bytes);
    fabric_.packets().destroy(packet);
  }
  engine_->progress(now);
  reap();
  while (!sends_.empty() && !nic_full()) {
    start(sends_.front());
    sends_.pop_front();
  }
  reap();
  if (!sends_.empty()) poll_at(now + 1);  // on_event() waits for the NIC
}

void Host::reap() {
  while (protocol::Request* request = engine_->peek_done()) {
    const protocol::Completion completion = engine_->consume(request);
    if (completion.kind == RequestKind::receive) {
      posted_--;
      post();
    }
    fabric_.completed(*this, completion);
  }
}

std::uint64_t Host::frames_needed(std::uint32_t to, std::uint32_t length) {
  const protocol::Peer* peer = engine_->find_peer(nic_of(to), 0);
  if (length <= kInline) return 1;
  const wire::Sizes& sizes = peer->agreed.sizes;
  const std::uint32_t unit = length <= engine_->eager_max(peer) ? sizes.medium_frag : sizes.pull_reply_max;
  return (length + unit - 1) / unit;
}

wire::TxFrame& Host::frame_begin(std::uint32_t max_segments) {
  if (segments_.size() < max_segments) segments_.resize(max_segments);
  tx_.segments = segments_.data();
  tx_.header_length = tx_.segment_count = tx_.cut = 0;
  return tx_;
}

void Host::frame_commit() {
  const std::uint32_t index = fabric_.packets().create();
  Packet& packet = fabric_.packets()[index];
  packet.from = index_;
  packet.bytes.assign(tx_.header, tx_.header + tx_.header_length);
  for (std::uint32_t i = 0; i < tx_.segment_count; i++) {
    const auto* data = static_cast<const std::byte*>(tx_.segments[i].iov_base);
    packet.bytes.insert(packet.bytes.end(), data, data + tx_.segments[i].iov_len);
  }
  if (packet.bytes.size() < wire::kMinFrame) packet.bytes.resize(wire::kMinFrame);
  packet.length = static_cast<std::uint32_t>(packet.bytes.size());
  packet.to = static_cast<std::uint32_t>(mac_load(packet.bytes.data()) - nic_of(0));
  fabric_.transmit(index);
}

std::uint64_t data_frames(const protocol::Counters& counters) {
  return counters[Counter::send_tiny] + counters[Counter::send_small] + counters[Counter::send_medium_frag] +
         counters[Counter::send_pull_reply];
}

}  // namespace omx::simulation::fabric
