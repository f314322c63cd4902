// SPDX-License-Identifier: BSD-3-Clause
// What a DsaEngine needs besides its portal: the time, pages that are present, and a way to wait. Tests and
// the simulator give their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "copy/engine.h"

namespace omx::copy {

class DsaSurroundings {
 public:
  virtual ~DsaSurroundings() = default;
  virtual TimeNs now() = 0;
  // Makes the pages of this memory present, for writing if asked. Changes no byte.
  virtual void touch(const std::byte* at, std::size_t bytes, bool write) = 0;
  // The engine has nothing else to do until this byte changes. Returns soon in any case; `times` is how often
  // in a row it was called before, without success.
  virtual void wait(const std::uint8_t* status, unsigned times) = 0;
};

// The real ones; lives for ever.
DsaSurroundings& dsa_surroundings();

}  // namespace omx::copy
