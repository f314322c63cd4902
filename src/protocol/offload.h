// SPDX-License-Identifier: BSD-3-Clause
// Copies arriving data outside the engine, which goes on meanwhile (docs/spec/copy-offload.md 9,
// copy/engine.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace omx::protocol {

// Tickets of the copies of a message; `last` is 0 if there are none.
struct OffloadTickets {
  std::uint64_t first = 0, last = 0;
};

class Offload {
 public:
  enum class Answer : std::uint8_t {
    refused,  // the engine must copy
    copied,   // the copy is done
    later,    // done when completed() reaches the ticket; until then the memory must not be used
  };
  struct Message {
    std::uint64_t bytes = 0;
    std::uint32_t number = 0;  // the same for all copies of a message
    bool medium = false;       // its end waits for the copies
  };
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // in the frame that the engine is given now
    std::size_t bytes = 0;
    std::uint64_t offset = 0;  // in the message
    Message message;
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
