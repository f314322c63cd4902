// SPDX-License-Identifier: BSD-3-Clause
// Copies arriving data outside the engine, which goes on meanwhile (docs/spec/copy-offload.md 9,
// copy/engine.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace omx::protocol {

class Offload {
 public:
  enum class Answer : std::uint8_t {
    refused,  // the engine must copy
    copied,   // the copy is done
    later,    // done when completed() reaches the ticket; until then the memory must not be used
  };
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // in the frame that the engine is given now
    std::size_t bytes = 0;
    std::uint64_t offset = 0;  // in the message
    std::uint64_t message_bytes = 0;
    std::uint32_t message = 0;  // copies of one message have the same number
  };

  // Starts a copy. `ticket` grows with each copy that is made later.
  virtual Answer copy(const Copy& copy, std::uint64_t& ticket) = 0;
  // Returns the ticket up to which all copies are over.
  virtual std::uint64_t completed() = 0;
  // Returns whether one of the tickets first ... last, which are over, may not have been copied.
  virtual bool failed(std::uint64_t first, std::uint64_t last) const = 0;
  // Reports the end of a message of which some was copied: how long it waited for its copies after all its
  // data had come.
  virtual void ended(std::uint64_t message_bytes, TimeNs waited) = 0;
  // Waits until all copies are over.
  virtual void drain() = 0;

 protected:
  ~Offload() = default;
};

}  // namespace omx::protocol
