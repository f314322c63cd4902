// SPDX-License-Identifier: BSD-3-Clause
// An open endpoint of this process: engine, link, claim, lock, and the ways to wait. Any thread may call any
// function at any time; close() must be the last (calls blocked in wait_* return first).
//
// One thread at a time, the leader, drives the link while the others sleep. So no more than one thread per
// endpoint spins. The leader spins for settings.waiting.spin_us at most, then sleeps in poll() until the
// engine's next deadline. A progress thread may lead while no other does.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "config/settings.h"
#include "link/link_counters.h"
#include "protocol/endpoint.h"
#include "runtime/board/boards.h"
#include "runtime/board/claim.h"
#include "runtime/endpoint/address.h"
#include "runtime/endpoint/unexpected_handler.h"
#include "runtime/wait/wait_predicate.h"

namespace omx::runtime {

class Endpoint {
 public:
  // Makes an endpoint that works only after Process::open() has set it up.
  Endpoint(const Board& board, std::uint8_t id, std::uint32_t session, std::uint32_t slot,
           const Settings& settings);
  ~Endpoint();

  const Board& board() const { return board_; }
  std::uint8_t id() const { return id_; }
  std::uint32_t session() const { return session_; }
  std::uint32_t slot() const { return slot_; }
  // Returns whether this process is a forked child of the one that opened the endpoint. If so, nothing works
  // here.
  bool foreign() const;
  Address address() const;  // of this endpoint

  // --- operations: as protocol::Endpoint, with the lock taken, addresses checked, and frames flushed
  // ----------
  Expected<Request*, protocol::OpError> connect(NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                                std::uint64_t match_info, void* context, bool forgotten,
                                                bool hidden = false);
  // Sends a message. Fails with bad_request if the address is of another endpoint object, or was never
  // valid. Fills in what the address says.
  Expected<Request*, protocol::OpError> send(const Address& to, protocol::SendOp& op);
  Expected<Request*, protocol::OpError> send(const Address& to, protocol::SendOp&& op) {
    return send(to, op);
  }
  Expected<Request*, protocol::OpError> receive(const protocol::ReceiveOp& op);
  Expected<bool, protocol::OpError> cancel(Request* request, bool complete = false);
  bool forget(Request* request);  // returns false if this endpoint has no such request
  Expected<bool, protocol::OpError> buffered(Request* request);
  // Sets a timeout; kForever: no limit. With nullptr it is the default of later requests. Returns false if
  // this endpoint has no such request.
  bool set_timeout(Request* request, std::uint64_t ms);
  bool disconnect(const Address& address);
  // Returns what the user should check when that NIC does not answer; empty if there is nothing to say.
  std::string silence_advice(NicId nic);
  // Names that endpoint for messages, by the name or address of its host.
  std::string peer_text(NicId nic, std::uint8_t endpoint);
  void set_unexpected_handler(const UnexpectedHandler& handler);
  // Ends the progress thread, if there is one, because the endpoint is about to be closed. A handler that
  // the thread ran has returned then.
  void end_background();
  // Does so when the process exits with the endpoint open, but waits no longer than `patience`.
  void end_background_at_exit(protocol::TimeNs patience);
  bool in_handler() const;  // this thread calls from the endpoint's unexpected handler

  // --- completion ------------------------------------------------------------------------------------------
  // Each makes progress first. On success the request is consumed.
  // Polls without waiting. Returns done, timed_out or no_request.
  WaitOutcome test(Request* request, Completion& completion);
  bool test_any(std::uint64_t match_info, std::uint64_t match_mask, Completion& completion);
  Request* peek();
  bool probe(std::uint64_t match_info, std::uint64_t match_mask, protocol::Arrival& arrival);
  void* context_of(Request* request);

  WaitOutcome wait(Request* request, std::uint64_t timeout_ms, Completion& completion);
  WaitOutcome wait_any(std::uint64_t match_info, std::uint64_t match_mask, std::uint64_t timeout_ms,
                       Completion& completion);
  WaitOutcome wait_peek(std::uint64_t timeout_ms, Request*& request);
  WaitOutcome wait_probe(std::uint64_t match_info, std::uint64_t match_mask, std::uint64_t timeout_ms,
                         protocol::Arrival& arrival);
  // Makes all threads that wait on this endpoint now return `woken`. Does not affect later waits.
  void wakeup();

  void progress();
  // Stops progression: no frame is processed and no handler runs until it is enabled. Waits for a running
  // handler. Idempotent.
  void disable_progression();
  void reenable_progression();

  // While a pin exists, close() waits. Callers of wait_* that use the endpoint afterwards hold one.
  class Pin {
   public:
    explicit Pin(Endpoint& endpoint);
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

   private:
    Endpoint& endpoint_;
  };

  // --- facts -----------------------------------------------------------------------------------------------
  Address address_of(protocol::Peer* peer, std::uint32_t session, std::uint32_t conversation) const;
  // Returns the context of an address; nullopt if it is no address of this endpoint.
  std::optional<void*> address_context(const Address& address);
  bool set_address_context(const Address& address, void* context);
  std::vector<protocol::PeerInfo> peers();
  protocol::Counters counters();
  link::LinkCounters link_counters();
  protocol::Endpoint::Memory memory();
  std::uint32_t eager_max();
  const Settings& settings() const;

  class Impl;  // endpoint_impl.h
  Impl& impl() { return *impl_; }

 private:
  const Board board_;
  const std::uint8_t id_;
  const std::uint32_t session_;
  const std::uint32_t slot_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace omx::runtime
