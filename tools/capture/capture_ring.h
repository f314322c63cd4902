// SPDX-License-Identifier: BSD-3-Clause
// All Open-MX traffic of an interface, in both directions, as the kernel's packet sockets show it: frames of
// our ethertype, and UDP datagrams that hold one. A ring of blocks (TPACKET_V3): a capture may wait some
// milliseconds for a block, but should lose nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/own_fd.h"
#include "tools/capture/capture_filter.h"
#include "tools/capture/pcapng.h"

struct tpacket_block_desc;

namespace omx::tools {

class CaptureRing {
 public:
  CaptureRing() = default;
  CaptureRing(const CaptureRing&) = delete;
  CaptureRing& operator=(const CaptureRing&) = delete;
  ~CaptureRing();

  // Before anything else; 0 or errno.
  int open();
  // Takes frames of this interface from now on; 0 or errno.
  int start(std::uint32_t ifindex, const CaptureRule& rule);

  int descriptor() const { return fd_.get(); }
  // Hands over what is there, as long as `take` wants more. Returns whether there was something.
  bool read(const std::function<bool(const CapturedFrame&)>& take);
  // Frames that the kernel had no room for, since the last call.
  std::uint64_t dropped();

 private:
  tpacket_block_desc* block() const;

  OwnFd fd_;
  std::byte* ring_ = nullptr;
  std::uint32_t next_ = 0;
};

}  // namespace omx::tools
