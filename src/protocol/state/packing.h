// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocol/state/seqnum.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

// Short messages to one partner that are about to share a frame (pack.cc).
struct Packing {
  Partner* partner = nullptr;                             // nullptr: none
  bool allowed = false;                                   // what is sent now may wait
  bool announces = false;                                 // so may what announces a large message
  bool gathers = false;                                   // so may packets without data
  bool packets = false;                                   // that is what the records are
  std::array<std::byte, wire::kEthernetHeader> ethernet;  // theirs
  TimeNs began = 0;
  const Partner* announced_to = nullptr;  // the last large message
  TimeNs announced = 0;
  Seqnum first = 0;
  std::uint32_t count = 0;
  std::uint32_t length = 0, room = 0;    // bytes of records
  std::unique_ptr<std::byte[]> records;  // made by the first burst
};

}  // namespace omx::protocol
