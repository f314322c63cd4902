// SPDX-License-Identifier: BSD-3-Clause
// A bare packet socket, used directly. The floor shares no code with src/link, so that it shares no mistakes
// either.
#pragma once

#include <linux/if_packet.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/mac.h"
#include "bench/floors/floor_report.h"

namespace omx::bench {

// The header has as many bytes as that of the smallest data frame of Open-MX, so that equal message sizes
// make equal frames.
struct FrameHeader {
  std::array<std::byte, 6> dst, src;
  std::uint16_t ethertype;  // big-endian
  std::uint8_t kind;        // Kind
  std::uint8_t pad;
  std::uint32_t size;  // start of a stream: payload bytes of a full frame
  std::uint32_t sequence;
  std::uint64_t value;  // stream: frames received; start of a stream: bytes of a message, or 0
};
static_assert(sizeof(FrameHeader) == 32);

enum class Kind : std::uint8_t { ping = 1, start, data, last, credit, result, end };

// The ethertype that IEEE reserves for experiments. Endpoints of Open-MX ignore it.
inline constexpr std::uint16_t kFloorEthertype = 0x88B5;
inline constexpr std::size_t kMinFrame = 60;

struct FloorOptions : Options {
  std::string interface;
  std::string peer;
  bool qdisc_bypass = false;   // PACKET_QDISC_BYPASS: hand frames straight to the driver
  std::uint32_t batch = 32;    // frames per system call
  std::uint32_t window = 256;  // frames in flight
  bool messages = false;       // sizes are message sizes, and each message is cut into frames
  bool blocking = false;       // sleep until a frame comes, instead of polling
};

class RawSocket {
 public:
  // Opens the socket, or ends the program. With a ring, front() and advance() receive; without, recvmmsg
  // does.
  RawSocket(const FloorOptions& options, bool with_ring);
  ~RawSocket();
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  int fd() const { return fd_; }
  NicId nic() const { return nic_; }
  // Returns the message bytes of the largest frame.
  std::size_t largest() const { return mtu_ + 14 - sizeof(FrameHeader); }

  // Returns the next frame in the ring, or nullptr.
  const std::byte* front() const {
    const auto* slot = reinterpret_cast<const tpacket2_hdr*>(cursor_);
    if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) return nullptr;
    return cursor_ + slot->tp_mac;
  }
  void advance() {
    __atomic_store_n(&reinterpret_cast<tpacket2_hdr*>(cursor_)->tp_status, TP_STATUS_KERNEL,
                     __ATOMIC_RELEASE);
    cursor_ += slot_bytes_;
    if (cursor_ == end_) cursor_ = ring_;
  }

  // Sleeps until a frame is in the ring, at most this long. Ends the program if the interface went down.
  void sleep(int milliseconds) const;

  FrameHeader header(NicId dst, Kind kind) const;
  // Sends one frame without payload.
  void send_control(const FrameHeader& header) const;

 private:
  void map_ring();

  std::string interface_;
  int fd_ = -1;
  std::uint32_t mtu_ = 0;
  NicId nic_ = 0;
  std::byte* ring_ = nullptr;
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t slot_bytes_ = 0;
  std::size_t mapped_bytes_ = 0;
};

// Returns true if a frame had no room, so that the caller tries again. Ends the program on any other error.
bool must_retry(const char* call);

}  // namespace omx::bench
