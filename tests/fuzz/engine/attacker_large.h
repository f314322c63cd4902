// SPDX-License-Identifier: BSD-3-Clause
// The attacker's part of large messages: announcing, pulling, replying, at both ends.
#pragma once

#include <cstdint>

#include "tests/fuzz/engine/attacker_rails.h"

namespace omx::fuzz {

class LargeAttacker : public RailAttacker {
 protected:
  using RailAttacker::RailAttacker;

  void rndv(const Sender& from, Script& script);
  void pull(const Sender& from, Script& script);
  void pull_reply(const Sender& from, Script& script);
  void notify(const Sender& from, Script& script);
  void nack_mcp(const Sender& from, Script& script);

 private:
  // Returns a region that a send owns, of the sender's own sends or of anyone's.
  const Request* region_pick(const Sender& from, std::uint8_t n, bool anybody) const;
  protocol::Pull* pull_pick(const Sender& from, std::uint8_t n, bool anybody) const;
};

}  // namespace omx::fuzz
