// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/frame_ring.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "wire/packets.h"

namespace omx::link {

RingGeometry FrameRing::wanted() const {
  const PacketLinkOptions& options = socket_.options();
  return ring_geometry(socket_.state().mtu, options.ring_frames, options.ring_bytes);
}

int FrameRing::map() {
  if (socket_.granted()) return ring_.attach(socket_.descriptor(), socket_.granted_ring());
  const PacketLinkOptions& options = socket_.options();
  // A smaller ring is better than none: memory in large pieces may be scarce.
  int error = ENOMEM;
  for (std::uint32_t slots = options.ring_frames; error == ENOMEM; slots /= 2) {
    error = ring_.map(socket_.descriptor(), ring_geometry(socket_.state().mtu, slots, options.ring_bytes));
    if (slots <= kRingMinSlots) break;
  }
  return error;
}

// Returns whether a frame is for another endpoint. The group's program selects our frames. Our own filter
// lets other endpoints' frames pass, so that a wrong program is noticed. Requests to connect may be the
// board's.
bool FrameRing::misdirected(wire::Frame frame) const {
  constexpr std::size_t kEnough = 32, kTypeAt = 16;
  if (frame.size() < kEnough || frame[kTypeAt] == static_cast<std::byte>(wire::PacketType::connect))
    return false;
  const int endpoint = wire::destination_endpoint(frame);
  return endpoint >= 0 && endpoint != socket_.options().endpoint;
}

std::size_t FrameRing::receive(FrameHandler& handler, std::size_t budget) {
  if (!ring_.mapped()) return 0;
  const bool shared = socket_.shared();
  std::size_t frames = 0;
  for (std::size_t slot = 0; slot < budget; slot++) {
    const tpacket2_hdr* header = ring_.front();
    if (!header) break;
    ring_.prefetch_next();
    const auto [frame, length] = ring_.seen(header);
    if (shared && misdirected(frame)) [[unlikely]] {
      counters_.frames_misdirected++;
    } else if (frame.size() == length && length > 0) {
      counters_.bytes_received += length;
      frames++;
      handler.on_frame(frame);
      if (const std::uint64_t ticket = holds_ ? handler.frame_held() : 0) {
        ring_.hold(ticket);
        continue;
      }
    } else {
      // The frame is cut to the slot because the MTU grew and refresh() has not seen that yet. Or the kernel
      // did not write this.
      counters_.frames_ignored++;
    }
    ring_.advance();
  }
  if (frames > 0) {
    counters_.frames_received += frames;
    counters_.receive_batches++;
  }
  return frames;
}

bool FrameRing::member_enter(FanoutMember member) {
  assert(member.held());
  socket_.member_set(std::move(member));
  const int fd = socket_.descriptor();
  const RingGeometry geometry = socket_.member().geometry();
  const auto ring_enter = [&] {
    return socket_.member().used() ? ring_.adopt(fd, geometry) : ring_.attach(fd, geometry);
  };
  const bool whole = geometry.serves(wanted()) && ring_enter() == 0;
  if (whole) {
    tpacket_stats former{};
    socklen_t length = sizeof former;
    ::getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &former, &length);
    if (socket_.filter_attach(FrameClass::all) == 0 && socket_.member().enter(socket_.options().endpoint))
      return true;
  }
  member_leave();
  return false;
}

void FrameRing::member_leave() {
  assert(socket_.shared());
  ring_.forget();
  wakeup_.close();
  socket_.member().leave();
}

// Returns whether to leave the group. If other endpoints' frames come for some seconds, the group's program
// does not fit the order of its members. It also means that no process mends the program.
bool FrameRing::group_wrong() {
  constexpr unsigned kLooks = 3;
  if (!socket_.shared()) return false;
  wrong_looks_ = counters_.frames_misdirected == misdirected_seen_ ? 0 : wrong_looks_ + 1;
  misdirected_seen_ = counters_.frames_misdirected;
  if (wrong_looks_ >= kLooks) socket_.member().group().give_up();
  return socket_.member().group().broken();
}

// Moves from a group to a socket of its own, whose ring the caller makes next. The ring of a member must
// never change.
int FrameRing::own_hook() {
  if (!socket_.shared()) return 0;
  // Steps that may fail come first, so that a member that stays can try again.
  DataSocket::Fresh fresh;
  if (const int error = socket_.own_make(fresh)) return error;
  member_leave();
  socket_.own_set(std::move(fresh));
  return 0;
}

// Takes another socket. The ring of a granted one never changes.
int FrameRing::granted_renew() {
  DataSocket::Fresh fresh;
  if (const int error = socket_.own_make(fresh)) return error;
  ring_.forget();
  wakeup_.close();
  socket_.own_set(std::move(fresh));
  return 0;
}

void FrameRing::fit() {
  if (ring_.mapped() && wanted().slot_bytes <= ring_.geometry().slot_bytes) return;
  renew(ring_.mapped());
}

void FrameRing::renew(bool tell) {
  const bool granted = socket_.granted() != nullptr;
  int error = granted ? granted_renew() : own_hook();
  if (!error && !granted) error = ring_.release(socket_.descriptor());
  entered(error ? error : map(), tell);
}

void FrameRing::enter() {
  entered(map(), true);
}

void FrameRing::entered(int error, bool tell) {
  holds_ = wants_hold_ && !error && ring_.hold_prepare();
  if (error && tell) {
    log(LogLevel::error,
        "{}: no memory for a receive ring for MTU {}: {}; nothing is received until it can be had: lower "
        "OMX_RING_FRAMES, or close other endpoints",
        socket_.options().interface, socket_.state().mtu, std::strerror(error));
  }
}

}  // namespace omx::link
