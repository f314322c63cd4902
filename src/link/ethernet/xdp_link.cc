// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/xdp_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "link/ethernet/packet_link.h"
#include "link/packet/packet_socket.h"
#include "link/packet/tx_batch.h"
#include "link/xdp/xdp_socket.h"
#include "netdev/open_failure.h"
#include "wire/packets.h"
#include "wire/sizes.h"

namespace omx::link {

namespace {

constexpr std::uint32_t kRingLeast = 64, kRingMost = 4096;
// Frames to queue before a system call. The kernel takes 32 at a time.
constexpr std::uint32_t kBatch = 32;

std::uint32_t mtu_most(const XdpSocket& socket) {
  return socket.port().facts().largest_frame - static_cast<std::uint32_t>(wire::kEthernetHeader);
}

// The interface of the packet link, to which both sockets are bound.
class XdpInterface final : public InterfaceWatch {
 public:
  XdpInterface(InterfaceWatch& packets, XdpSocket& socket, LinkCounters& own)
      : packets_(packets), socket_(socket), own_(own) {}

  int listen() {
    listens_to_ = packets_.nic();
    return socket_.listen(socket_.port().facts().largest_frame, listens_to_);
  }
  NicId nic() const override { return packets_.nic(); }
  std::uint32_t mtu() const override { return std::min(packets_.mtu(), mtu_most(socket_)); }
  bool refresh() override {
    own_.ring_drops += socket_.drops_take();
    packet_socket_clear_error(socket_.descriptor());
    const bool up = packets_.refresh();
    if (packets_.nic() != listens_to_) listen();
    return up;
  }
  Outage outage() const override { return packets_.outage(); }
  InterfaceState now() const override { return packets_.now(); }

 private:
  InterfaceWatch& packets_;
  XdpSocket& socket_;
  LinkCounters& own_;
  NicId listens_to_ = 0;
};

// A bulk path that only gives a descriptor, because large messages come by AF_XDP. It wakes for the packet
// link's frames, and for what that link reports of the interface.
class XdpBulkPath final : public BulkPath {
 public:
  explicit XdpBulkPath(const Transport& packets) : packets_(packets) {}
  bool expect() override { return false; }
  bool forgo() override { return true; }
  void close() override {}
  std::size_t receive(BulkHandler&, std::size_t) override { return 0; }
  int descriptor() const override { return packets_.descriptor(); }

 private:
  const Transport& packets_;
};

// A ring in which no frame can stay, because pieces of memory are given back at once.
class XdpRing final : public Ring {
 public:
  bool hold_enable() override { return false; }
  std::uint32_t held() const override { return 0; }
  std::uint32_t slots() const override { return 0; }
  void give_back(std::uint64_t) override {}
  void abandon() override {}
};

// A link with an AF_XDP socket and a packet link. The packet link takes what the XDP program lets pass:
// frames for the board, too large frames, and those that arrive on other queues. It takes all frames if the
// program is detached. The bulk path by UDP is the packet link's, too.
class XdpLink final : public Transport {
 public:
  XdpLink(std::unique_ptr<Transport> packets, std::shared_ptr<XdpPort> port)
      : Transport("raw frames (AF_XDP)", interface_,
                  {&bulk_, packets->udp_bulk_path(), packets->udp_bulk_path() ? &wakeup_ : nullptr, &ring_,
                   nullptr}),
        packets_(std::move(packets)),
        socket_(std::move(port)) {}

  int open(const XdpLinkOptions& options) {
    const std::uint32_t frames =
        std::bit_ceil(std::clamp(options.packets.ring_frames, kRingLeast, kRingMost));
    if (const int error = socket_.open(options.packets.endpoint, frames, options.busy_poll)) return error;
    return interface_.listen();
  }

  wire::TxFrame& frame_begin([[maybe_unused]] std::uint32_t max_segments) override {
    assert(max_segments <= kMaxSegments);
    by_bulk_ = false;
    frame_.header_length = 0;
    frame_.segment_count = 0;
    frame_.segments = segments_.data();
    return frame_;
  }
  wire::TxFrame& bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) override {
    by_bulk_ = true;
    return packets_->bulk_begin(to, max_segments);
  }
  void frame_commit() override;
  void flush() override {
    packets_->flush();  // first: a frame of the link may announce what went by the bulk path
    socket_.flush(own_);
    batched_ = 0;
  }

  void marks_forgo() override { packets_->marks_forgo(); }

  std::size_t receive(FrameHandler& handler, std::size_t budget) override {
    const std::size_t frames = socket_.receive(handler, budget, own_);
    if (frames >= budget || !packets_->pending()) return frames;
    return frames + packets_->receive(handler, budget - frames);
  }
  bool pending() override { return socket_.pending() || packets_->pending(); }
  int descriptor() const override { return socket_.descriptor(); }
  void hear_closed(const std::vector<std::uint8_t>& others) override { packets_->hear_closed(others); }
  const LinkCounters& counters() const override;

 private:
  std::unique_ptr<Transport> packets_;
  XdpSocket socket_;
  LinkCounters own_;
  mutable LinkCounters all_;
  XdpInterface interface_{packets_->interface(), socket_, own_};
  XdpBulkPath bulk_{*packets_};
  XdpRing ring_;
  LinkWakeup wakeup_;
  bool by_bulk_ = false;  // the frame under way goes by the UDP bulk path
  std::uint32_t batched_ = 0;
  wire::TxFrame frame_;
  std::array<iovec, kMaxSegments + 1> segments_;  // one more for padding
};

void XdpLink::frame_commit() {
  if (by_bulk_) return packets_->frame_commit();
  assert(frame_.header_length >= wire::kHeadBytes && frame_.header_length <= wire::kHeaderCapacity);
  std::size_t bytes = frame_.header_length;
  for (std::uint32_t i = 0; i < frame_.segment_count; i++) bytes += frame_.segments[i].iov_len;
  if (!socket_.carries(bytes)) {
    wire::TxFrame& other = packets_->frame_begin(frame_.segment_count);
    other.header_length = frame_.header_length;
    other.segment_count = frame_.segment_count;
    std::memcpy(other.header, frame_.header, frame_.header_length);
    std::copy_n(frame_.segments, frame_.segment_count, other.segments);
    packets_->frame_commit();
    return;
  }
  static constexpr std::byte kZeros[wire::kMinFrame] = {};
  if (bytes < wire::kMinFrame) {
    // There is room for the padding, because so short a frame has few pieces, if any.
    frame_.segments[frame_.segment_count++] = {const_cast<std::byte*>(kZeros), wire::kMinFrame - bytes};
    bytes = wire::kMinFrame;
  }
  if (!socket_.send(frame_, bytes, own_)) own_.send_errors++;
  if (++batched_ < kBatch) return;
  socket_.flush(own_);
  batched_ = 0;
}

// Returns the sums of both links. How many frames came by AF_XDP is counted separately.
const LinkCounters& XdpLink::counters() const {
  const LinkCounters& packets = packets_->counters();
  all_ = packets;
  all_.frames_sent += own_.frames_sent;
  all_.bytes_sent += own_.bytes_sent;
  all_.send_calls += own_.send_calls;
  all_.send_errors += own_.send_errors;
  all_.frames_received += own_.frames_received;
  all_.bytes_received += own_.bytes_received;
  all_.receive_batches += own_.receive_batches;
  all_.ring_drops += own_.ring_drops;
  all_.frames_by_xdp = own_.frames_received;
  return all_;
}

PacketLinkOptions packet_options(const XdpLinkOptions& options) {
  PacketLinkOptions packets = options.packets;
  packets.bulk = false;  // pull replies come by AF_XDP
  packets.all_frames = false;
  return packets;
}

}  // namespace

bool xdp_built() {
  return true;
}

Result<std::unique_ptr<Transport>> xdp_link_open(const XdpLinkOptions& options) {
  const std::string& name = options.packets.interface;
  auto packets = packet_link_open(packet_options(options));
  if (!packets) return packets;
  auto port = XdpPort::join(options);
  if (!port && port.error().mx_code == kQueuesTaken) {
    log(LogLevel::warn, "{} endpoint {}: {}; its frames go by a packet socket instead of AF_XDP", name,
        options.packets.endpoint, port.error().message);
    packets->reset();
    return packet_link_open(options.packets);
  }
  if (!port) return tl::unexpected(port.error());
  const XdpFacts facts = (*port)->facts();
  auto link = std::make_unique<XdpLink>(std::move(*packets), std::move(*port));
  if (const int error = link->open(options))
    return tl::unexpected(open_failure("an AF_XDP socket on " + name, error));
  log(LogLevel::info, "{} endpoint {}: AF_XDP, {}", name, options.packets.endpoint, xdp_facts_text(facts));
  return std::unique_ptr<Transport>(std::move(link));
}

Result<XdpFacts> xdp_trial(const XdpLinkOptions& options) {
  auto port = XdpPort::join(options);
  if (port) return (*port)->facts();
  Failure failure = port.error();
  if (failure.mx_code == kQueuesTaken) {
    failure.mx_code = kBusy;
    failure.message += "; messages go by packet sockets until one is free";
  }
  return tl::unexpected(failure);
}

}  // namespace omx::link
