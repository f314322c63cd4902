// SPDX-License-Identifier: BSD-3-Clause
#include "copy/threshold.h"

#include <algorithm>
#include <bit>

namespace omx::copy {

namespace {

constexpr std::int8_t kLossesMost = 8;
constexpr std::int8_t kTrialLosses = 2;  // that end a later trial
constexpr std::uint64_t kPause = 64U << 20;
constexpr std::uint8_t kPausesMost = 6;  // doublings: 4 GiB

}  // namespace

Threshold::Size& Threshold::size_of(std::uint64_t message_bytes) {
  return sizes_[std::min<std::size_t>(std::bit_width(message_bytes), sizes_.size() - 1)];
}

bool Threshold::worth(std::uint64_t message_bytes, std::uint64_t piece_bytes) {
  if (message_bytes < least_) return false;
  if (!tuned_) return true;
  Size& size = size_of(message_bytes);
  if (size.refused == 0) return true;
  size.refused -= std::min(size.refused, piece_bytes);
  return false;
}

void Threshold::ended(std::uint64_t message_bytes, TimeNs saved, TimeNs waited) {
  Size& size = size_of(message_bytes);
  if (size.refused > 0) return;  // it began before
  if (waited <= saved) {
    if (size.losses > 0) size.losses--;
    if (size.losses == 0) size.pause = 0;
    return;
  }
  if (++size.losses < kLossesMost) return;
  size.losses = kLossesMost - kTrialLosses;
  size.refused = kPause << size.pause;
  size.pause = std::min<std::uint8_t>(size.pause + 1, kPausesMost);
}

}  // namespace omx::copy
