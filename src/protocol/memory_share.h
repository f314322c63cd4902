// SPDX-License-Identifier: BSD-3-Clause
// Memory beyond what an endpoint has for itself, of which all processes of the host have a part.
#pragma once

#include <cstddef>

namespace omx::protocol {

class MemoryShare {
 public:
  // False: the host has no more to give.
  virtual bool take(std::size_t bytes) = 0;
  virtual void give(std::size_t bytes) = 0;
  // What may still be taken, at most.
  virtual std::size_t available() const = 0;

 protected:
  ~MemoryShare() = default;
};

}  // namespace omx::protocol
