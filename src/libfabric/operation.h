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

// Messages of different classes never meet (docs/wire.md 7).
enum MessageClass : std::uint8_t {
  kClassTagged = 1,
  kClassUntagged = 2,
  kClassRequest = 3,  // of memory: memory_request.h
  kClassAnswer = 4,
  kClassData = 5,  // of a long write
};

// As completions tell it.
inline std::uint64_t kind_flag(MessageClass message_class) {
  return message_class == kClassTagged ? FI_TAGGED : FI_MSG;
}

enum class OperationKind : std::uint8_t {
  send,
  receive,
  connect,
  access,          // read, write or atomic: waits for the answer
  access_part,     // its request, or the data of a long write
  service,         // memory that requests arrive in
  service_part,    // the data of a peer's long write
  service_answer,  // to a peer
};

struct Operation {
  OperationKind kind = OperationKind::send;
  bool wanted = true;       // a completion entry on success
  bool has_context = true;  // inject has none, so errors cannot be told
  bool counted = false;     // in Endpoint::sends_
  bool discards = false;    // no data are wanted
  bool several = false;     // its memory takes several messages
  void* context = nullptr;
  std::uint64_t flags = 0;  // of the completion: FI_SEND | FI_TAGGED ...
  std::uint64_t tag = 0;
  std::byte* memory = nullptr;  // first byte of the application's
  protocol::Request* request = nullptr;
  ListHook all;
  ListHook hook;  // posted receives; or waiting for a connection

  // While it waits for a connection: what is to be sent.
  struct Waiting {
    std::vector<protocol::Segment> segments;
    std::vector<std::byte> copy;
    protocol::SendOp op;
  };
  std::unique_ptr<Waiting> waiting;

  // Connect: to whom.
  fi_addr_t peer = FI_ADDR_NOTAVAIL;

  // Memory of peers: memory_access.cc, memory_service.cc.
  std::vector<protocol::Segment> result;  // access: where the answer goes
  bool unposted = false;                  // access: its receive waits for the connection
  unsigned parts = 0;                     // access: that have not ended
  int error = 0;                          // of the first that failed
  Operation* owner = nullptr;             // access_part: of which access
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
  std::uint64_t remote_data = 0;
  bool has_remote_data = false;
  protocol::Partner* partner = nullptr;  // service: who asked
  std::vector<MemoryRegion*> regions;    // service: held
  std::vector<std::byte> own;            // memory that it owns
};

}  // namespace omx::fabric
