// SPDX-License-Identifier: BSD-3-Clause
// The share of recent frames that were lost, as an average that forgets.
#pragma once

#include <cstdint>

namespace omx::protocol {

template <unsigned kLog2Frames>
class LossShare {
 public:
  void came() { share_ -= share_ >> kLog2Frames; }
  void lost() { share_ += (kAll - share_) >> kLog2Frames; }
  // Return whether less, or more, than one frame in so many was lost.
  bool below_one_in(std::uint32_t frames) const { return share_ < kAll / frames; }
  bool above_one_in(std::uint32_t frames) const { return share_ > kAll / frames; }

 private:
  static constexpr std::uint32_t kAll = 1U << 28;
  std::uint32_t share_ = 0;
};

}  // namespace omx::protocol
