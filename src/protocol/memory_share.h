// SPDX-License-Identifier: BSD-3-Clause
// Memory beyond an endpoint's own, shared by all processes of the host.
#pragma once

#include <cstddef>

namespace omx::protocol {

class MemoryShare {
 public:
  // Returns false if the host has no more to give.
  virtual bool take(std::size_t bytes) = 0;
  virtual void give(std::size_t bytes) = 0;
  // Returns the most that may still be taken.
  virtual std::size_t available() const = 0;

 protected:
  ~MemoryShare() = default;
};

}  // namespace omx::protocol
