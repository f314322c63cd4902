// SPDX-License-Identifier: BSD-3-Clause
// fi_endpoint (FI_EP_RDM): what its parts share. A part is a subject of its own, and the ones above know the
// ones below:
//   live_endpoint   opening and closing the endpoint; what the engine finished
//   transfers, peeks, remote_memory, memory_service
//   reports         completion entries and counts
//   peers           addresses become peers of the engine; connecting
//   endpoint        choices, bindings, operations
// All state is guarded by the lock of the runtime's endpoint (runtime::EngineAccess). What is fixed at
// fi_enable() may be read without it.
#pragma once

#include <rdma/fi_endpoint.h>

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "base/slab.h"
#include "libfabric/bindings.h"
#include "libfabric/choices.h"
#include "libfabric/driven_endpoint.h"
#include "libfabric/operation.h"
#include "runtime/endpoint/engine_access.h"

namespace omx::fabric {

class Domain;
class Peeks;
class RemoteMemory;
class Transfers;

// The key of CONNECT. With it, programs of the MX API and those of libfabric do not meet by accident.
inline constexpr std::uint32_t kKey = 0x6F6D7866;

class Endpoint : public fid_ep, public DrivenEndpoint {
 public:
  Endpoint(Domain& domain, const fi_info& info);
  virtual ~Endpoint();

  // Answers fi_enable. Returns 0, or a negative error code whose reason is logged.
  virtual int enable() = 0;
  // Ends what is pending without completions, and lets what was sent arrive.
  virtual void close() = 0;

  Domain& domain() const { return domain_; }
  // Answers fi_getname: 0 or a negative error code.
  int name_get(void* out, std::size_t* length) const;
  // Returns 0, or why no operation can begin: the endpoint is not enabled yet, or another process's.
  int unusable() const { return !runtime_ ? -FI_EOPBADSTATE : runtime_->foreign() ? -FI_EPERM : 0; }

  // Return the parts that calls of the application go to. They live as long as the endpoint.
  Transfers& transfers() const { return *transfers_; }
  Peeks& peeks() const { return *peeks_; }
  RemoteMemory& remote_memory() const { return *remote_memory_; }

  // --- for the parts ---
  // Returns a new operation, which counts as pending until operation_free(). nullptr: no memory.
  Operation* operation_new(OperationKind kind) {
    Operation* op = operations_.create();
    if (!op) return nullptr;
    op->kind = kind;
    pending_.push_back(*op);
    return op;
  }
  void operation_free(Operation& op);
  Operation* operation_first() { return pending_.front(); }
  Operation* operation_after(Operation& op) { return pending_.next(op); }

  // Returns whether another send may begin (FI_EAGAIN). Tries to make room if too many are under way.
  bool send_allowed(runtime::EngineAccess& direct) {
    return sends_ < choices.transmit_size || send_allowed_after_turn(direct);
  }
  // Counts a send or an access as under way, from its call to its report.
  void send_begun() { sends_++; }
  void send_ended() {
    assert(sends_ > 0);
    sends_--;
  }
  // Returns how many more sends may begin. Takes the endpoint's lock.
  std::size_t send_room();

  // Returns whether a success gets an entry in that queue; `flags` are those of the call.
  static bool wanted(const Bindings::Queue& bound, std::uint64_t flags) {
    return bound.queue && (!bound.selective || (flags & FI_COMPLETION));
  }
  // Returns whether the endpoint is about to be gone, when nothing is reported any more.
  bool closing() const { return closing_; }

  Choices choices;
  Bindings bindings;

 protected:
  Transfers* transfers_ = nullptr;
  Peeks* peeks_ = nullptr;
  RemoteMemory* remote_memory_ = nullptr;
  bool closing_ = false;

 private:
  bool send_allowed_after_turn(runtime::EngineAccess& direct);

  Domain& domain_;
  Slab<Operation> operations_;
  List<Operation, &Operation::all> pending_;
  std::size_t sends_ = 0;
};

inline Endpoint& endpoint_of(fid_ep* endpoint) {
  return static_cast<Endpoint&>(*endpoint);
}
inline Endpoint& endpoint_of(fid* object) {
  return endpoint_of(reinterpret_cast<fid_ep*>(object));
}

}  // namespace omx::fabric
