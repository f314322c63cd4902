// SPDX-License-Identifier: BSD-3-Clause
// From which size on messages gain by a copy engine, as their ends tell (Goglin, Cluster 2008, III-B: the
// thresholds depend on the machine). A message loses when it has to wait longer for its last copies than its
// receiver's processor saved. What a size lost several times in a row is left to the processor for a while,
// and then tried again.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.h"

namespace omx::copy {

class Threshold {
 public:
  // `least` bytes and more may be offloaded. Without `tuned` that is all.
  Threshold(std::uint32_t least, bool tuned) : least_(least), tuned_(tuned) {}

  // Returns whether to offload a piece of such a message. What is not offloaded counts until the next trial.
  bool worth(std::uint64_t message_bytes, std::uint64_t piece_bytes);
  // Reports the end of a message that was offloaded: what the processor saved, and how long the message
  // waited for its copies after all its data had come.
  void ended(std::uint64_t message_bytes, TimeNs saved, TimeNs waited);

 private:
  // Messages of one power of two.
  struct Size {
    std::int8_t losses = 0;     // more than wins
    std::uint8_t pause = 0;     // the next pause is kPause << pause
    std::uint64_t refused = 0;  // bytes that the processor still gets
  };
  Size& size_of(std::uint64_t message_bytes);

  std::array<Size, 33> sizes_{};
  const std::uint32_t least_;
  const bool tuned_;
};

}  // namespace omx::copy
