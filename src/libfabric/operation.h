// SPDX-License-Identifier: BSD-3-Clause
// One operation of the application, from the call to its completion.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/list.h"
#include "protocol/types.h"

namespace omx::fabric {

class MemoryRegion;

// Messages of different classes never meet (docs/reference/wire.md 7).
enum MessageClass : std::uint8_t {
  kClassTagged = 1,
  kClassUntagged = 2,
  kClassRequest = 3,  // of memory: memory_request.h
  kClassAnswer = 4,
  kClassData = 5,  // of a long write
};

// Returns the flag by which completions tell the class.
inline std::uint64_t kind_flag(MessageClass message_class) {
  return message_class == kClassTagged ? FI_TAGGED : FI_MSG;
}

enum class OperationKind : std::uint8_t {
  send,
  receive,
  connect,
  access,          // a read, write or atomic operation, which waits for its answer
  access_part,     // the request of an access, or the data of a long write
  service,         // memory that requests arrive in
  service_part,    // the data of a peer's long write
  service_answer,  // to a peer
};

struct Operation {
  OperationKind kind = OperationKind::send;
  bool wanted = true;       // whether a success has a completion entry
  bool has_context = true;  // inject has none, so an error has no context either
  bool counted = false;     // whether it counts as a send under way
  bool discards = false;    // whether the data are dropped
  bool several = false;     // whether its memory takes several messages
  void* context = nullptr;
  std::uint64_t flags = 0;  // of the completion: FI_SEND | FI_TAGGED ...
  std::uint64_t tag = 0;
  std::byte* memory = nullptr;  // the first byte of the application's
  protocol::Request* request = nullptr;
  ListHook all;
  ListHook hook;  // of posted receives, or of messages that wait for a connection

  // An operation that waits for a connection.
  struct Waiting {
    std::vector<protocol::Segment> segments;
    std::vector<std::byte> copy;
    protocol::SendOp op;
  };
  std::unique_ptr<Waiting> waiting;

  // Of a connect: the address of the peer.
  fi_addr_t address = FI_ADDR_NOTAVAIL;

  // Of accesses to memory of peers (remote_memory.h), and of those that peers make (memory_service.h).
  std::vector<protocol::Segment> result;  // access: where the answer goes
  bool unposted = false;                  // access: whether the answer's receive waits for the connection
  unsigned parts = 0;                     // access: that have not ended
  int error = 0;                          // of the first that failed
  Operation* owner = nullptr;             // access_part: the access
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
  std::uint64_t remote_data = 0;
  bool has_remote_data = false;
  protocol::Peer* peer = nullptr;      // service: the peer that asked
  std::vector<MemoryRegion*> regions;  // service: that are held
  std::vector<std::byte> own;          // memory that the operation owns
};

}  // namespace omx::fabric
