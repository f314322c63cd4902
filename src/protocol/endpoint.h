// SPDX-License-Identifier: BSD-3-Clause
// The engine of one endpoint: sans-I/O and single-threaded. Its caller gives it frames, operations and the
// time. It produces frames (through a FrameSink), completions, and the time of the next call that it needs.
//
// Rules for callers:
//  * one thread at a time (the runtime holds the endpoint's lock);
//  * `now` never goes backwards;
//  * after any call that takes `now`, call sink.flush() before user memory may change;
//  * a Request pointer is valid until its completion is consumed, or it is forgotten or cancelled.
#pragma once

#include <memory>

#include "base/expected.h"
#include "protocol/config.h"
#include "protocol/counters.h"
#include "protocol/endpoint_completions.h"
#include "protocol/endpoint_driving.h"
#include "protocol/endpoint_facts.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::protocol {

struct State;  // everything inside; see state.h

class Endpoint : public EndpointCompletions, public EndpointDriving, public EndpointFacts {
 public:
  // `counters` and `sink` must outlive the endpoint.
  Endpoint(const Config& config, wire::FrameSink& sink, Counters& counters);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const Config& config() const;

  // A forgotten operation returns a null Request. Refused operations leave no trace. A hidden request is seen
  // by done() alone, not by find_done and peek_done. no_resources means a lack of memory or of slots for
  // peers.
  //
  // A connect opens a conversation if there is none, with any instance of the peer except `shunned` (a
  // session). If that instance answers, the connect ends with the status of the last conversation
  // (docs/reference/contract.md).
  Expected<Request*, OpError> connect(TimeNs now, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                      std::uint64_t match_info, void* context, bool forgotten,
                                      bool hidden = false, std::uint32_t shunned = 0xFFFFFFFF);
  Expected<Request*, OpError> send(TimeNs now, const SendOp& op);
  Expected<Request*, OpError> receive(TimeNs now, const ReceiveOp& op);

  // Frees an unmatched receive or pending connect and returns true. Returns false if it is too late: the
  // request will complete or has completed. bad_request for sends and for requests that are not held(). With
  // `complete` the request ends with status cancelled instead of vanishing.
  Expected<bool, OpError> cancel(Request* request, bool complete = false);
  // Gives up the completion; the caller must not use the pointer any more. Returns false if the request is
  // not held().
  bool forget(Request* request);
  // Fails all that is pending with the peer (unreachable). The peer may be connected to again.
  void disconnect(TimeNs now, Peer* peer);
  // Limits how long the peer of a request may be silent. With nullptr the limit holds for all later requests.
  // kNever: no limit. Returns false if the request is not held().
  bool set_timeout(Request* request, TimeNs timeout);

  // Changes BulkConfig::pulls.
  void set_bulk_pulls(bool allowed);
  // The handler is called inside on_frame/send for messages that match no posted receive
  // (docs/spec/protocol.md 9.1). It may call send and receive on this endpoint.
  void set_unexpected_handler(UnexpectedHandler handler, void* context);
  // Notes whether the application sleeps between frames. While it sleeps, large messages of a single sender
  // are asked for further ahead, so that fewer frames need to wake it.
  void set_sleeping(TimeNs now, bool sleeping);
  // Notes that the interface's MTU changed.
  void set_mtu(TimeNs now, std::uint32_t mtu);

  // Stops or resumes delivery. While suspended, nothing is delivered, and the rest of the frame in work is
  // kept. Call when the unexpected handler, or another thread while it runs, stops progression. Frames may be
  // handed over again when progression resumes.
  void suspend(TimeNs now, bool suspended);
  // Drops receives silently before the endpoint closes (docs/spec/mx-api.md 4.3). The handler is not called
  // any more, so arriving data touch nothing that the application has given up.
  void deliveries_end();

  // Notes that the endpoint at this address is gone. Fails what is pending with it (closed), except connects,
  // which may be for its successor.
  void peer_gone(TimeNs now, NicId nic, std::uint8_t endpoint);
  // Notes that nothing can be sent to this address and that this will not change by itself. Fails what is
  // pending with it (unreachable), also connects and receives.
  void peer_unreachable(TimeNs now, NicId nic, std::uint8_t endpoint);
  // Notes that the network reports that no endpoint takes this frame of ours. A waiting connect request ends
  // (closed): the frame holds our session, which only peers are told. Nothing else changes, because any host
  // may send such a report. Returns false if the frame is no such request.
  bool connect_refused(TimeNs now, wire::Frame frame);

  // Returns the peer at this address, and creates it unconnected if it is new. nullptr: no memory or slots.
  Peer* peer(NicId nic, std::uint8_t endpoint);

  // For the unit tests and the simulator's checkers.
  State& state() { return *state_; }

 private:
  explicit Endpoint(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace omx::protocol
