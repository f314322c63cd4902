// SPDX-License-Identifier: BSD-3-Clause
// Copies of arriving data that somebody else makes while the engine goes on (docs/spec/copy-offload.md 9,
// copy/engine.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace omx::protocol {

class Offload {
 public:
  enum class Answer : std::uint8_t {
    refused,  // copy it yourself
    copied,   // it is there
    later,    // when completed() has reached the ticket; until then nobody else uses the memory
  };
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // in the frame that the engine is given now
    std::size_t bytes = 0;
    std::uint64_t offset = 0;  // in the message
    std::uint64_t message_bytes = 0;
  };

  // `ticket` grows from copy to copy that is made later.
  virtual Answer copy(const Copy& copy, std::uint64_t& ticket) = 0;
  // Up to which ticket all copies are over.
  virtual std::uint64_t completed() = 0;
  // Whether one of the tickets first ... last, which are over, may never have been copied.
  virtual bool failed(std::uint64_t first, std::uint64_t last) const = 0;
  // Waits until all are over.
  virtual void drain() = 0;

 protected:
  ~Offload() = default;
};

}  // namespace omx::protocol
