// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations. The process that owns the memory runs them, one at a time.
#pragma once

#include <rdma/fi_atomic.h>

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "libfabric/memory_request.h"
#include "protocol/types.h"

namespace omx::fabric {

// Returns the bytes of a value. 0: the type is not known.
std::size_t datatype_size(fi_datatype type);
// Returns whether the operation is offered for the type.
bool atomic_supported(AtomicForm form, fi_datatype type, fi_op operation);

// Appends `bytes` bytes from a list of values of `size` bytes. Returns false if the list holds fewer.
bool operands_append(std::vector<std::byte>& message, std::span<const fi_ioc> values, std::size_t size,
                     std::size_t bytes);

class Atomics {
 public:
  // Runs the request on the memory. `payload` holds the operands, then what to compare with. `result` gets
  // the values from before. Returns 0 or a positive error code. Thread-safe.
  int run(const MemoryRequest& request, std::span<const protocol::Segment> memory,
          std::span<const std::byte> payload, std::vector<std::byte>& result);

 private:
  std::mutex mutex_;  // regions may be reached through several endpoints
};

}  // namespace omx::fabric
