// SPDX-License-Identifier: BSD-3-Clause
// What libfabric's many forms of sending and receiving have in common.
#pragma once

#include <rdma/fabric.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "libfabric/operation.h"

namespace omx::fabric {

struct SendCall {
  std::span<const iovec> pieces;
  fi_addr_t to = FI_ADDR_UNSPEC;
  MessageClass message_class = kClassTagged;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::uint64_t flags = 0;  // FI_REMOTE_CQ_DATA, FI_INJECT, FI_COMPLETION ...
  void* context = nullptr;
  bool has_context = true;  // inject has none
};

struct ReceiveCall {
  std::span<const iovec> pieces;
  fi_addr_t from = FI_ADDR_UNSPEC;
  MessageClass message_class = kClassTagged;
  std::uint64_t tag = 0, ignore = 0;
  std::uint64_t flags = 0;
  void* context = nullptr;
};

}  // namespace omx::fabric
