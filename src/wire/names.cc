// SPDX-License-Identifier: BSD-3-Clause
// Names for counters, traces and messages.
#include "wire/names.h"

namespace omx::wire {

const char* packet_type_name(PacketType type) {
  switch (type) {
    case PacketType::none:
      return "NONE";
    case PacketType::raw:
      return "RAW";
    case PacketType::host_query:
      return "HOST_QUERY";
    case PacketType::host_reply:
      return "HOST_REPLY";
    case PacketType::truc:
      return "TRUC";
    case PacketType::connect:
      return "CONNECT";
    case PacketType::tiny:
      return "TINY";
    case PacketType::small:
      return "SMALL";
    case PacketType::medium:
      return "MEDIUM";
    case PacketType::rndv:
      return "RNDV";
    case PacketType::pull:
      return "PULL";
    case PacketType::pull_reply:
      return "PULL_REPLY";
    case PacketType::notify:
      return "NOTIFY";
    case PacketType::nack_lib:
      return "NACK_LIB";
    case PacketType::nack_mcp:
      return "NACK_MCP";
    case PacketType::probe:
      return "PROBE";
    case PacketType::pack:
      return "PACK";
  }
  return "UNKNOWN";
}

const char* drop_name(Drop drop) {
  switch (drop) {
    case Drop::none:
      return "none";
    case Drop::frame_too_short:
      return "frame too short";
    case Drop::bad_length:
      return "bad length";
    case Drop::truncated:
      return "truncated";
    case Drop::bad_type:
      return "bad type";
    case Drop::bad_checksum:
      return "bad checksum";
  }
  return "unknown";
}

}  // namespace omx::wire
