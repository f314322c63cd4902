// SPDX-License-Identifier: BSD-3-Clause
// The peers of an endpoint. Addresses become peers of the engine when they are first used. A message to a
// peer that is not connected waits here, and the connection is made without the application's help.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/list.h"
#include "libfabric/address.h"
#include "libfabric/address_vector.h"
#include "libfabric/endpoint.h"
#include "libfabric/operation.h"
#include "libfabric/unreached.h"

namespace omx::fabric {

// Receives the fate of messages that waited for a connection. Called with the endpoint's lock held.
class WaitingMessages {
 public:
  // Called when the connection to `to` is there. Returns whether the message is to be sent.
  virtual bool still_wanted(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
                            protocol::Peer* to) = 0;
  // Ends an operation of which nothing was sent. Frees it.
  virtual void unsent(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op,
                      protocol::Status status) = 0;

 protected:
  ~WaitingMessages() = default;
};

// Guarded by the endpoint's lock.
class Peers {
 public:
  // A number of the address vector, as this endpoint knows it.
  struct Destination {
    const AddressVector::Entry* entry = nullptr;
    std::uint32_t generation = 0;  // of the entry; 0: the number was not used yet
    protocol::Peer* peer = nullptr;
    std::uint32_t session = kAnySession;
    bool connecting = false;
    List<Operation, &Operation::hook> waiting;  // for the connection
  };

  Peers(Endpoint& endpoint, WaitingMessages& waiting) : endpoint_(endpoint), waiting_(waiting) {}

  // Returns the peer with that number. nullptr: the vector has no such number, or there is no memory;
  // why_none() returns the negative error code.
  Destination* find(protocol::Endpoint& engine, fi_addr_t number);
  int why_none(fi_addr_t number) const;
  // Returns whether the peer is connected, and is the incarnation that the address means.
  bool ready(const Destination& to) const;
  // Returns how the conversation of that address ended. pending: it has not ended, or another incarnation of
  // the peer may be there (docs/reference/contract.md).
  protocol::Status over(const Destination& to) const;
  // Returns the session of the incarnation that this address must not reach again. kAnySession: there is
  // none.
  std::uint32_t shunned(const Destination& to) const;
  // Returns the number of a sender. FI_ADDR_NOTAVAIL: its address was not inserted.
  fi_addr_t source_of(const protocol::Peer* peer, std::uint32_t session, std::uint32_t conversation) const;

  // Hands the message to the engine, or lets it wait for a connection. Completes `send` by what follows from
  // the other arguments. Returns 0 or a negative error code; with an error the operation is still the
  // caller's.
  int dispatch(protocol::Endpoint& engine, protocol::TimeNs now, fi_addr_t number, Operation& op,
               std::span<const protocol::Segment> segments, protocol::SendOp& send);
  // Returns how many operations dispatch() has ended at once so far, as their conversation was over.
  std::uint64_t refusals() const { return refusals_; }

  // Takes the end of a connect that dispatch() began, and sends or fails what waited for it.
  void connected(protocol::Endpoint& engine, protocol::TimeNs now, const Operation& connect,
                 const protocol::Completion& c);
  // Remembers that a conversation has ended. Addresses inserted before cannot be used for another one.
  void conversation_ended(const protocol::PeerNews& news);
  // Reports that a peer was not reached while receives or probes waited for it.
  void unreached(const protocol::PeerNews& news);
  // Returns whether no message waits for a connection.
  bool none_waiting() const;
  // Ends all messages that wait for a connection, as aborted.
  void abort_waiting(protocol::Endpoint& engine, protocol::TimeNs now);

 private:
  // The last conversation with a peer that ended.
  struct Ended {
    std::uint32_t next_generation = 0;  // of the address vector, at that time
    std::uint32_t session = kAnySession;
    protocol::Status status = protocol::Status::endpoint_unreachable;
  };

  Destination* learn(protocol::Endpoint& engine, fi_addr_t number);
  int connect(protocol::Endpoint& engine, protocol::TimeNs now, Destination& to, fi_addr_t number);
  void send_waiting(protocol::Endpoint& engine, protocol::TimeNs now, Destination& to);
  void fail_waiting(protocol::Endpoint& engine, protocol::TimeNs now, Destination& to,
                    protocol::Status status);
  int refuse(protocol::Endpoint& engine, protocol::TimeNs now, Operation& op, protocol::Status over);

  Endpoint& endpoint_;
  WaitingMessages& waiting_;
  Unreached unreached_{endpoint_};
  std::vector<std::unique_ptr<Destination>> peers_;  // by number
  std::unordered_map<const protocol::Peer*, Ended> ended_;
  std::uint64_t refusals_ = 0;
};

}  // namespace omx::fabric
