// SPDX-License-Identifier: BSD-3-Clause
#include "mx/raw_endpoint.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "link/ethernet/packet_link.h"
#include "wire/packets.h"

namespace {

using namespace omx;

// The number of the claim. Those of endpoints are 0 to 255.
constexpr std::uint32_t kRawClaim = 256;
// RAW frames pass the filter whatever the endpoint id. This id is the least used.
constexpr std::uint8_t kFilterEndpoint = 255;
constexpr std::uint32_t kRingFrames = 256;
constexpr std::uint32_t kRingBytes = 1U << 20;
// The interval at which a waiting call checks the interface.
constexpr std::chrono::milliseconds kRefreshPeriod{1000};

// Keeps the first RAW frame that it is handed.
class RawReader final : public link::FrameHandler {
 public:
  explicit RawReader(std::span<std::byte> buffer) : buffer_(buffer) {}
  void on_frame(wire::Frame frame) override {
    wire::Head head;
    if (wire::decode_head(frame, head) != wire::Drop::none || head.type != wire::PacketType::raw) return;
    length_ = std::min(frame.size(), buffer_.size());
    if (length_ > 0) std::memcpy(buffer_.data(), frame.data(), length_);
    found_ = true;
  }
  bool found() const { return found_; }
  std::size_t length() const { return length_; }

 private:
  std::span<std::byte> buffer_;
  std::size_t length_ = 0;
  bool found_ = false;
};

}  // namespace

Result<std::unique_ptr<omx_raw_endpoint>> omx_raw_endpoint::open(const runtime::Board& board) {
  if (board.udp)
    return fail(MX_NO_DEV,
                fmt::format("{} is reached by UDP, which carries no raw packets: they need CAP_NET_RAW "
                            "and OMX_LINK=ethernet",
                            board.interface.name));
  if (board.granted())
    return fail(MX_NO_PERM,
                fmt::format("the broker grants no raw packets on {}: they need CAP_NET_RAW (setcap "
                            "cap_net_raw+ep PROGRAM)",
                            board.interface.name));
  std::unique_ptr<omx_raw_endpoint> raw(new omx_raw_endpoint(board));
  auto claim = runtime::claim_endpoint(board.interface.index, kRawClaim);
  if (!claim) return tl::make_unexpected(claim.error());
  raw->claim_ = std::move(*claim);

  link::PacketLinkOptions options;
  options.interface = board.interface.name;
  options.endpoint = kFilterEndpoint;
  options.ring_frames = kRingFrames;
  options.ring_bytes = kRingBytes;
  auto opened = link::packet_link_open(options);
  if (!opened) return tl::make_unexpected(opened.error());
  raw->link_ = std::move(*opened);

  raw->event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  raw->epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event readable{};
  readable.events = EPOLLIN;
  if (raw->event_ < 0 || raw->epoll_ < 0 ||
      ::epoll_ctl(raw->epoll_, EPOLL_CTL_ADD, raw->event_, &readable) < 0 ||
      ::epoll_ctl(raw->epoll_, EPOLL_CTL_ADD, raw->link_->descriptor(), &readable) < 0)
    return fail(MX_NO_RESOURCES, fmt::format("raw endpoint: no event descriptors: {}", std::strerror(errno)));
  return raw;
}

omx_raw_endpoint::~omx_raw_endpoint() {
  if (epoll_ >= 0) ::close(epoll_);
  if (event_ >= 0) ::close(event_);
}

bool omx_raw_endpoint::fits(std::size_t length) const {
  return length >= wire::kEthernetHeader && length <= link_->interface().mtu() + wire::kEthernetHeader;
}

void omx_raw_endpoint::send(std::span<const std::byte> frame, void* context) {
  assert(fits(frame.size()));
  wire::TxFrame& out = link_->frame_begin(1);
  const std::size_t head = std::min(frame.size(), sizeof out.header);
  std::memcpy(out.header, frame.data(), head);
  out.header_length = static_cast<std::uint32_t>(head);
  out.segment_count = 0;
  if (frame.size() > head) {
    const auto rest = frame.subspan(head);
    // iovec has no const form, but the link only reads.
    out.segments[0] = {const_cast<std::byte*>(rest.data()), rest.size()};
    out.segment_count = 1;
  }
  link_->frame_commit();
  link_->flush();
  sent_.push_back(context);
  const std::uint64_t one = 1;
  if (::write(event_, &one, sizeof one) < 0) return;  // the counter is full, and so readable
}

bool omx_raw_endpoint::take(std::span<std::byte> buffer, Event& event) {
  if (!sent_.empty()) {
    event.status = MX_RAW_SEND_COMPLETE;
    event.context = sent_.front();
    sent_.pop_front();
    std::uint64_t count = 0;
    if (sent_.empty() && ::read(event_, &count, sizeof count) < 0)
      return true;  // the eventfd was not readable
    return true;
  }
  // Takes one frame at a time, because there is room for one.
  RawReader reader(buffer);
  while (!reader.found() && link_->receive(reader, 1) > 0) {
  }
  if (!reader.found()) return false;
  event.status = MX_RAW_RECV_COMPLETE;
  event.length = reader.length();
  return true;
}

bool omx_raw_endpoint::next_event(std::span<std::byte> buffer, std::uint32_t timeout_ms, Event& event) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    if (take(buffer, event)) return true;
    // A link that is down may come back. One that is gone does not. refresh() also clears the error that an
    // outage leaves behind, which would end every poll() at once.
    if (!link_->interface().refresh() && link::is_lost(link_->interface().outage())) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return true;
    pollfd wait{epoll_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::min(left, kRefreshPeriod).count()));
    if (ready < 0) return true;  // a signal ends the call without an event (docs/spec/mx-api.md 4.8)
  }
}
