// SPDX-License-Identifier: BSD-3-Clause
// The surroundings of a DsaEngine: the time, pages that are present, and a way to wait. Tests and the
// simulator supply their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy/engine.h"

namespace omx::copy {

class DsaSurroundings {
 public:
  virtual ~DsaSurroundings() = default;
  virtual TimeNs now() = 0;
  virtual std::size_t page_bytes() const = 0;
  // Makes the pages of this memory present, and writable if `write`. Changes no byte.
  virtual void touch(const std::byte* at, std::size_t bytes, bool write) = 0;
  // Waits for this byte to change, as the engine has nothing else to do. Returns soon in any case. `times`
  // says how often in a row it was called before and found nothing.
  virtual void wait(const std::uint8_t* status, unsigned times) = 0;
};

// Returns the real surroundings, which live until the process ends.
DsaSurroundings& dsa_surroundings();

}  // namespace omx::copy
