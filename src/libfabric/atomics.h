// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations, done by the processor of whoever owns the memory, one at a time.
#pragma once

#include <rdma/fi_atomic.h>

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "libfabric/memory_request.h"
#include "protocol/types.h"

namespace omx::fabric {

// 0: not a type that we know.
std::size_t datatype_size(fi_datatype type);
bool atomic_supported(AtomicForm form, fi_datatype type, fi_op operation);

// Appends `bytes` from a list of values. False: it holds fewer.
bool operands_append(std::vector<std::byte>& message, std::span<const fi_ioc> values, std::size_t size,
                     std::size_t bytes);

class Atomics {
 public:
  // `payload` holds the operands, then what to compare with; `result` gets the values from before. 0, or an
  // error.
  int run(const MemoryRequest& request, std::span<const protocol::Segment> memory,
          std::span<const std::byte> payload, std::vector<std::byte>& result);

 private:
  std::mutex mutex_;  // regions may be reached through several endpoints
};

}  // namespace omx::fabric
