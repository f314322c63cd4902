// SPDX-License-Identifier: BSD-3-Clause
// fi_endpoint (FI_EP_RDM) over one endpoint of the runtime.
//   endpoint.cc        opening, binding, enabling, closing, options, names
//   peers.cc           addresses become partners; connecting; messages that wait for it
//   transfer.cc        sends and receives        peek.cc    looking at messages, claiming them
//   completions.cc     what the engine finished
//   calls_*.cc         libfabric's many forms of these
// All state is guarded by the lock of the runtime's endpoint (runtime::Direct), but what is fixed when the
// endpoint is enabled.
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/slab.h"
#include "libfabric/address_vector.h"
#include "libfabric/completion_queue.h"
#include "libfabric/counter.h"
#include "libfabric/domain.h"
#include "libfabric/operation.h"
#include "runtime/direct.h"

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
  runtime::Endpoint& runtime_endpoint() { return *endpoint_; }
  void poll();
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

  // --- completions.cc ---
  void completed(protocol::Endpoint& engine, protocol::TimeNs now) override;

 private:
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
  Peer* peer_of(Engine& engine, fi_addr_t number);
  bool peer_ready(const Peer& peer) const;
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
  int receive_source(Engine& engine, fi_addr_t from, const protocol::Partner*& source);

  // --- completions.cc ---
  void finish(Engine& engine, protocol::TimeNs now, Operation& op, const protocol::Completion& c);
  void finish_receive(Operation& op, const protocol::Completion& c);
  // One of ours ended: entry and counters.
  void report(Operation& op, int error, int provider_error);
  fi_addr_t source_of(const protocol::Completion& c);

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
  std::uint16_t wanted_id_ = kAnyId;

  runtime::Endpoint* endpoint_ = nullptr;  // when enabled
  std::vector<std::unique_ptr<Peer>> peers_;
  Slab<Operation> operations_;
  List<Operation, &Operation::all> all_;
  List<Operation, &Operation::hook> receives_;                // posted, for fi_cancel
  std::unordered_map<void*, protocol::Unexpected*> claimed_;  // by context
  std::size_t sends_ = 0;
  unsigned sends_since_turn_ = 0;
  bool closing_ = false;
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

}  // namespace omx::fabric
