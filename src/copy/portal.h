// SPDX-License-Identifier: BSD-3-Clause
// The way of descriptors to a work queue (docs/spec/copy-offload.md 4). An engine sees no more of its device
// than this and the records.
#pragma once

#include <cstddef>
#include <span>

#include "copy/dsa_descriptor.h"

namespace omx::copy {

struct PortalAnswer {
  std::size_t accepted = 0;  // the first ones, which now belong to the device
  int error = 0;  // an errno that makes the portal useless; 0: the queue is full, or all were accepted
};

class Portal {
 public:
  virtual ~Portal() = default;
  // Submits without waiting. The device has not seen what is not accepted.
  virtual PortalAnswer submit(std::span<const DsaDescriptor> descriptors) = 0;
  // Returns how many descriptors are worth one call. That is 1 where each costs an instruction.
  virtual std::size_t batch() const = 0;
  // Returns whether the way takes lists of descriptors (docs/spec/copy-offload.md 4).
  virtual bool takes_lists() const { return false; }
  virtual const char* name() const = 0;
};

}  // namespace omx::copy
