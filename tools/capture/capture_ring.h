// SPDX-License-Identifier: BSD-3-Clause
// Receives all Open-MX traffic of an interface, in both directions, from a packet socket. The ring of blocks
// (TPACKET_V3) loses few frames. In return a frame waits some milliseconds until its block is handed over.
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

  // Opens the socket; call it first. Returns 0 or an errno.
  int open();
  // Starts to receive frames of this interface. Returns 0 or an errno.
  int start(std::uint32_t ifindex, const CaptureRule& rule);

  int descriptor() const { return fd_.get(); }
  // Hands over the frames that have arrived until `take` returns false. Returns whether there was any.
  bool read(const std::function<bool(const CapturedFrame&)>& take);
  // Returns how many frames the kernel dropped for lack of room since the last call.
  std::uint64_t dropped();

 private:
  tpacket_block_desc* block() const;

  OwnFd fd_;
  std::byte* ring_ = nullptr;
  std::uint32_t next_ = 0;
};

}  // namespace omx::tools
