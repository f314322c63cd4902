// SPDX-License-Identifier: BSD-3-Clause
// fi_endpoint (FI_EP_RDM) over one endpoint of the runtime.
//   endpoint.cc        opening, binding, enabling, closing, options, names
//   peers.cc           addresses become partners; connecting; messages that wait for it
//   transfer.cc        sends and receives        peek.cc    looking at messages, claiming them
//   completions.cc     what the engine finished      memory_access.cc    memory of peers: asking
//   memory_service.cc  memory of peers: serving
//   calls_*.cc         libfabric's many forms of these
// All state is guarded by the lock of the runtime's endpoint (runtime::Direct), but what is fixed when the
// endpoint is enabled.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <array>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/slab.h"
#include "libfabric/address_vector.h"
#include "libfabric/completion_queue.h"
#include "libfabric/counter.h"
#include "libfabric/domain.h"
#include "libfabric/memory_request.h"
#include "libfabric/operation.h"
#include "runtime/endpoint/direct.h"

namespace omx::fabric {

// The key of CONNECT: programs of the MX API do not meet those of libfabric by accident.
inline constexpr std::uint32_t kKey = 0x6F6D7866;

// What the calls of libfabric have in common.
struct SendCall {
  std::span<const iovec> pieces;
  fi_addr_t to = FI_ADDR_UNSPEC;
  MessageClass message_class = kClassTagged;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::uint64_t flags = 0;  // FI_REMOTE_CQ_DATA, FI_INJECT, FI_COMPLETION ...
  void* context = nullptr;
  bool has_context = true;
};

struct ReceiveCall {
  std::span<const iovec> pieces;
  fi_addr_t from = FI_ADDR_UNSPEC;
  MessageClass message_class = kClassTagged;
  std::uint64_t tag = 0, ignore = 0;
  std::uint64_t flags = 0;
  void* context = nullptr;
};

// Reads, writes and atomic operations on memory of peers.
struct AccessCall {
  fi_addr_t peer = FI_ADDR_UNSPEC;
  std::uint64_t flags = 0;
  void* context = nullptr;
  bool has_context = true;
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

int error_of(protocol::Status status);

class Endpoint final : public fid_ep, public runtime::CompletionSink {
 public:
  Endpoint(Domain& domain, const fi_info& info);
  ~Endpoint() override;

  // --- endpoint.cc ---
  int bind(fid_t object, std::uint64_t flags);
  int enable();
  // Ends what is pending without completions, lets what was sent arrive.
  void close();
  int set_option(int name, const void* value, std::size_t length);
  int get_option(int name, void* value, std::size_t* length);
  int name_get(void* out, std::size_t* length);
  int name_set(const void* in, std::size_t length);
  bool enabled() const { return endpoint_ != nullptr; }
  // 0, or why no operation can begin: not enabled yet, or another process's.
  int unusable() const { return !enabled() ? -FI_EOPBADSTATE : endpoint_->foreign() ? -FI_EPERM : 0; }
  runtime::Endpoint& runtime_endpoint() { return *endpoint_; }
  bool poll(bool look);  // as Direct's
  std::size_t send_room();
  std::uint64_t transmit_flags() const { return transmit_flags_; }
  std::uint64_t receive_flags() const { return receive_flags_; }
  void transmit_flags_set(std::uint64_t flags) { transmit_flags_ = flags; }
  void receive_flags_set(std::uint64_t flags) { receive_flags_ = flags; }

  // --- transfer.cc, peek.cc ---
  ssize_t send(const SendCall& call);
  ssize_t receive(const ReceiveCall& call);
  ssize_t peek(const ReceiveCall& call);
  ssize_t receive_claimed(const ReceiveCall& call);
  ssize_t cancel(void* context);

  // The region is about to be gone: peers that have not sent what they announced are refused, and, if they
  // are `late`, forgotten.
  void revoke(MemoryRegion& region, bool late);
  // Threads of the application that wait here, counted by the domain.
  std::atomic<int>& waiting() { return waiting_; }

  // --- memory_access.cc ---
  ssize_t access(const RmaCall& call);
  ssize_t access(const AtomicCall& call);

  // --- completions.cc ---
  void completed(protocol::Endpoint& engine, protocol::TimeNs now) override;
  void conversation_ended(const protocol::PeerNews& news) override;
  void peer_unreached(const protocol::PeerNews& news) override;
  void message_lost(const protocol::LostMessage& lost) override;

 private:
  void connections_await();
  void operations_drop();

  using Direct = runtime::Direct;
  using Engine = protocol::Endpoint;

  // A number of the address vector, as this endpoint knows it.
  struct Peer {
    std::uint32_t generation = 0;  // of the vector's entry
    protocol::Partner* partner = nullptr;
    std::uint32_t session = kAnySession;
    bool connecting = false;
    List<Operation, &Operation::hook> waiting;
  };

  // --- peers.cc ---
  void unreached_tell(const protocol::Partner* partner, protocol::Status status, bool ended,
                      protocol::TimeNs patience);
  // nullptr: nobody has that number, or there is no memory; no_peer() says which.
  Peer* peer_of(Engine& engine, fi_addr_t number);
  int no_peer(fi_addr_t number) const;
  bool peer_ready(const Peer& peer) const;
  // How the conversation ended that the address was good for; pending: it has not, or another instance of the
  // peer may be there (docs/contract.md).
  protocol::Status peer_over(const Peer& peer) const;
  // The instance of the peer that must not be talked to again under that address; kAnySession: none.
  std::uint32_t peer_shunned(const Peer& peer) const;
  int peer_connect(Engine& engine, protocol::TimeNs now, Peer& peer, fi_addr_t number);
  void peer_connected(Engine& engine, protocol::TimeNs now, Operation& connect,
                      const protocol::Completion& c);
  void peer_fail(Engine& engine, protocol::TimeNs now, Peer& peer, protocol::Status status);
  // Hands it to the engine, or lets it wait for a connection. 0, or an error; then it is still the caller's.
  int dispatch(Engine& engine, protocol::TimeNs now, fi_addr_t number, Operation& op,
               std::span<const protocol::Segment> segments, const protocol::SendOp& send);

  // --- transfer.cc ---
  // False: it goes to somebody else, or is too long for this.
  bool send_self(Direct& direct, Operation& op, fi_addr_t to, std::span<const protocol::Segment> segments,
                 std::size_t length, protocol::SendOp send, ssize_t& result);
  // FI_EAGAIN where too much is under way, after a try to make room.
  bool send_allowed(Direct& direct);
  bool wanted(const CompletionQueue* queue, bool selective, std::uint64_t flags) const;
  Operation* operation_new(OperationKind kind);
  void operation_free(Operation& op);
  int receive_source(Engine& engine, fi_addr_t from, protocol::ReceiveOp& receive);

  // --- completions.cc ---
  void finish(Engine& engine, protocol::TimeNs now, Operation& op, const protocol::Completion& c);
  void finish_receive(Operation& op, const protocol::Completion& c);
  // One of ours ended: entry and counters.
  void report(Operation& op, int error, int provider_error);
  fi_addr_t source_of(const protocol::Partner* partner, std::uint32_t session, std::uint32_t conversation);

  void finish_service(Engine& engine, protocol::TimeNs now, Operation& op, const protocol::Completion& c);

  // --- memory_access.cc ---
  Operation* access_begin(Direct& direct, const AccessCall& call, std::uint64_t flags, int& error);
  int access_start(Direct& direct, Operation& op, fi_addr_t peer, std::span<const protocol::Segment> result,
                   std::vector<std::byte> request, std::span<const protocol::Segment> data);
  int access_await(Direct& direct, Operation& op, fi_addr_t peer, std::span<const protocol::Segment> result);
  int access_post(Engine& engine, protocol::TimeNs now, Operation& op, protocol::Partner* from);
  int access_part(Direct& direct, Operation& owner, fi_addr_t peer, std::vector<std::byte> own,
                  std::span<const protocol::Segment> segments, MessageClass message_class);
  void access_undo(Direct& direct, Operation& op);
  void access_part_ended(Engine& engine, Operation& op, int error);
  void access_finish(Engine& engine, Operation& op, const protocol::Completion& c);

  // --- memory_service.cc ---
  bool service_start(Engine& engine, protocol::TimeNs now);
  bool service_post(Engine& engine, protocol::TimeNs now, Operation& op);
  void service_received(Engine& engine, protocol::TimeNs now, Operation& op, const protocol::Completion& c);
  bool service_hold(const MemoryRequest& request, Operation& op, std::vector<protocol::Segment>& segments);
  void service_release(Operation& op);
  void service_run(Engine& engine, protocol::TimeNs now, protocol::Partner* from,
                   const MemoryRequest& request, std::span<const std::byte> payload);
  void service_written(Engine& engine, protocol::TimeNs now, Operation& op, int error);
  void service_answer(Engine& engine, protocol::TimeNs now, Operation& op, int error,
                      std::span<const std::byte> copy, std::span<const protocol::Segment> segments);
  void remote_event(const Operation& op);

  enum CounterIndex {
    kCountSend,
    kCountReceive,
    kCountRead,
    kCountWrite,
    kCountRemoteRead,
    kCountRemoteWrite,
    kCounters
  };

  Domain& domain_;
  AddressVector* addresses_ = nullptr;
  CompletionQueue* transmit_queue_ = nullptr;
  CompletionQueue* receive_queue_ = nullptr;
  bool transmit_selective_ = false, receive_selective_ = false;
  std::array<Counter*, kCounters> counters_{};
  fid_eq* event_queue_ = nullptr;
  std::uint64_t caps_;
  std::uint64_t transmit_flags_, receive_flags_;
  std::size_t transmit_size_;
  std::size_t least_ = 64;  // FI_OPT_MIN_MULTI_RECV
  Address wanted_;          // what of it the application chose

  runtime::Endpoint* endpoint_ = nullptr;  // when enabled
  std::vector<std::unique_ptr<Peer>> peers_;
  // The last conversation with a peer that ended. Addresses inserted before that are not good for another
  // one.
  struct Ended {
    std::uint32_t next_generation = 0;  // of the address vector, at that time
    std::uint32_t session = kAnySession;
    protocol::Status status = protocol::Status::endpoint_unreachable;
  };
  std::unordered_map<const protocol::Partner*, Ended> ended_;
  std::unordered_set<const protocol::Partner*> unreached_;  // and people were told
  std::uint64_t refusals_ = 0;  // operations that ended at once, as their conversation is over
  Slab<Operation> operations_;
  List<Operation, &Operation::all> all_;
  List<Operation, &Operation::hook> receives_;                // posted, for fi_cancel
  std::unordered_map<void*, protocol::Unexpected*> claimed_;  // by context
  std::uint64_t next_id_ = 0;                                 // of accesses
  std::size_t sends_ = 0;
  bool closing_ = false;
  std::atomic<int> waiting_{0};
};

inline Endpoint& endpoint_of(fid_ep* endpoint) {
  return static_cast<Endpoint&>(*endpoint);
}
inline Endpoint& endpoint_of(fid* object) {
  return endpoint_of(reinterpret_cast<fid_ep*>(object));
}

// --- calls_*.cc --------------------------------------------------------------------------------------------
extern const fi_ops_msg kMessageCalls;
extern const fi_ops_tagged kTaggedCalls;
extern const fi_ops_rma kRmaCalls;
extern const fi_ops_atomic kAtomicCalls;
extern const fi_ops_collective kCollectiveCalls;

}  // namespace omx::fabric
