// SPDX-License-Identifier: BSD-3-Clause
// What libfabric's many forms of reads, writes and atomic operations on memory of peers have in common.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "libfabric/memory_request.h"

namespace omx::fabric {

struct AccessCall {
  fi_addr_t peer = FI_ADDR_UNSPEC;
  std::uint64_t flags = 0;
  void* context = nullptr;
  bool has_context = true;  // inject has none
};

struct RmaCall : AccessCall {
  bool write = false;
  std::span<const iovec> pieces;
  std::span<const fi_rma_iov> remote;
  std::uint64_t data = 0;
};

struct AtomicCall : AccessCall {
  AtomicForm form = AtomicForm::plain;
  fi_datatype datatype = FI_INT8;
  fi_op operation = FI_SUM;
  std::span<const fi_ioc> operands, compare, result;
  std::span<const fi_rma_ioc> remote;
};

}  // namespace omx::fabric
