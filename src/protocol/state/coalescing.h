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

// Coalescing: short messages to one peer that are about to share a frame (coalesce.cc).
struct Coalescing {
  Peer* peer = nullptr;                                   // nullptr: none
  bool allowed = false;                                   // messages sent now may wait
  bool announces = false;                                 // announcements of large messages may wait, too
  bool packets_allowed = false;                           // packets without data may wait, too
  bool packets = false;                                   // the records are packets without data
  std::array<std::byte, wire::kEthernetHeader> ethernet;  // header of those packets
  TimeNs began = 0;
  const Peer* announced_to = nullptr;  // peer of the last large message
  TimeNs announced = 0;
  Seqnum first = 0;
  std::uint32_t count = 0;
  std::uint32_t length = 0, room = 0;    // bytes of records
  std::unique_ptr<std::byte[]> records;  // allocated by the first burst
};

}  // namespace omx::protocol
