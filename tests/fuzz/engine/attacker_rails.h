// SPDX-License-Identifier: BSD-3-Clause
// The attacker's part of rails (docs/explanation/rails.md): boards that it has, or claims to have.
#pragma once

#include <cstdint>

#include "tests/fuzz/engine/attacker_sender.h"

namespace omx::fuzz {

class RailAttacker : public AttackerSender {
 protected:
  using AttackerSender::AttackerSender;

  // Choose the boards by which frames go, and those which connects announce, from now on.
  void rail_way(Script& script);
  void rail_announce(Script& script);
  void rail_probe(const Sender& from, Script& script);
  void announcement_fill(const Sender& from, wire::ConnectExt& ext) const;

 private:
  std::uint8_t announced_ = 0, announced_count_ = 0;
};

}  // namespace omx::fuzz
