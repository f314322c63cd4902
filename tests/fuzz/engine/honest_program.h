// SPDX-License-Identifier: BSD-3-Clause
// The honest peer's program, which receives everything.
#pragma once

#include <cstdint>
#include <deque>

#include "tests/fuzz/engine/operation.h"

namespace omx::fuzz {

// The messages that the honest peer's program sends and receives.
class HonestProgram : public Player {
 public:
  HonestProgram(Scene& scene, Book& to_victim, Book& from_victim)
      : scene_(scene), to_victim_(to_victim), from_victim_(from_victim) {}
  void send(std::uint32_t length, std::uint8_t tag, bool synchronous, bool extension);
  void look() override;

 private:
  void finished(Operation& op, const protocol::Completion& c);

  Scene& scene_;
  Book& to_victim_;
  Book& from_victim_;
  std::deque<Operation> operations_;
};

}  // namespace omx::fuzz
