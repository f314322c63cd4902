// SPDX-License-Identifier: BSD-3-Clause
// The input of the engine's fuzz target: a few bytes of set-up, then steps. A script that ends early
// continues with zeros, which mean the plain and valid case everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace omx::fuzz {

using Bytes = std::vector<std::byte>;

enum class Step : std::uint8_t {
  // The victim's application.
  receive,
  send,
  connect,
  cancel,
  probe,
  disconnect,
  handler,
  timeout,
  collect,
  // Virtual time and the honest peer.
  time,
  honest_send,
  lose,  // frames between victim and honest peer
  mtu,
  // The attackers.
  connect_request,
  connect_reply,
  eager,
  medium,
  rndv,
  pull,
  pull_reply,
  notify,
  truc,
  nack_lib,
  nack_mcp,
  mtu_probe,
  raw,
  replay,
  flood,
  pack,
  rail_way,
  rail_announce,
  rail_probe,
  carrier,
  count
};

class Script {
 public:
  explicit Script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return at_ >= bytes_.size(); }
  std::uint8_t u8() { return empty() ? std::uint8_t{0} : bytes_[at_++]; }
  std::uint16_t u16() {
    const std::uint16_t high = u8();
    return static_cast<std::uint16_t>(high << 8 | u8());
  }
  std::uint32_t u32() {
    const std::uint32_t high = u16();
    return high << 16 | u16();
  }
  Bytes take(std::size_t n) {
    Bytes out;
    for (; n > 0 && !empty(); n--) out.push_back(static_cast<std::byte>(u8()));
    return out;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

// Message lengths around every change of class, and some that are a few frames, blocks and windows long.
inline constexpr std::uint32_t kLengths[16] = {0,    8,    32,   33,    128,   129,   1000,  1452,
                                               4096, 5000, 9000, 20000, 32768, 40000, 50000, 65537};

}  // namespace omx::fuzz
