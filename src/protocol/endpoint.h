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
#include <optional>
#include <span>

#include "base/expected.h"
#include "protocol/config.h"
#include "protocol/counters.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::protocol {

struct Snapshot;
struct State;  // everything inside; see state.h

class Endpoint {
 public:
  // `counters` and `sink` must outlive the endpoint.
  Endpoint(const Config& config, wire::FrameSink& sink, Counters& counters);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const Config& config() const;

  // --- operations -------------------------------------------------------------------------------------
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

  // --- completions ------------------------------------------------------------------------------------
  // Returns whether the pointer is a request of this endpoint that was not consumed, forgotten or cancelled.
  // The memory of a request that was may serve another.
  bool held(const Request* request) const;
  bool done(const Request* request) const;
  // Returns the completion of a request that is done, and frees the request.
  Completion consume(Request* request);
  // Returns the oldest matching request that is done, or nullptr. Forgotten requests are never seen.
  Request* find_done(std::uint64_t match_info, std::uint64_t match_mask);
  Request* peek_done();
  void* context_of(const Request* request) const;
  RequestKind kind_of(const Request* request) const;
  // Returns whether the user's memory of a send may be reused already. bad_request for other requests and for
  // those that are not held().
  Expected<bool, OpError> buffered(const Request* request) const;
  // Notes that the application polls for messages from the source of `op` and will poll again. The engine
  // watches the source for some seconds, as if the receive were posted. Returns a status other than pending
  // if such a receive would have ended since the last poll.
  Status watch(TimeNs now, const ReceiveOp& op);
  // Returns the oldest matching unexpected message, which stays queued.
  std::optional<Arrival> probe(std::uint64_t match_info, std::uint64_t match_mask,
                               const Peer* source = nullptr, std::uint8_t message_class = 0,
                               std::uint32_t session = 0xFFFFFFFF);
  // Takes the oldest matching message out of matching, for receive_claimed or discard later. Returns nullptr
  // when there is none or the oldest is still arriving.
  Unexpected* claim(std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                    std::uint8_t message_class, std::uint32_t session = 0xFFFFFFFF);
  // Receives a claimed message. The match fields of `op` are not used.
  Expected<Request*, OpError> receive_claimed(TimeNs now, Unexpected* message, const ReceiveOp& op);
  // Drops a claimed message; for its sender it was received. Returns false when there is no memory, and the
  // message stays claimed.
  bool discard(TimeNs now, Unexpected* message);
  // Returns whether pull replies are expected.
  bool pulls_running() const;
  // Returns whether a pull was ever so large that a bulk path pays. Synchronous messages are pulled too,
  // however small, and each further socket makes every frame slower.
  bool bulk_seen() const;
  // The bytes of large messages that came in frames from other hosts, and the time for which such messages
  // ran.
  struct Pace {
    std::uint64_t bytes = 0;
    TimeNs busy = 0;
  };
  Pace pull_pace() const;
  // Changes BulkConfig::pulls.
  void set_bulk_pulls(bool allowed);
  // Returns whether messages wait for nothing but copies (Config::offload).
  bool copies_awaited() const;
  // Returns whether replies that were asked for by the link are expected.
  bool pulls_by_link() const;
  // bulk_awaited() returns whether announced frames on the bulk path have not all come.
  // bulk_wanted() also returns true when we asked for frames there.
  bool bulk_awaited(TimeNs now);
  bool bulk_wanted(TimeNs now);
  // Notes that frames came by the bulk path.
  void bulk_came();
  // Returns the peer that uses this address for its bulk path, or 0.
  NicId bulk_sender(const wire::BulkAddress& from) const;
  // Returns whether no message has arrived that a receive posted now could find. Posting one then needs no
  // time.
  bool unexpected_empty() const;
  // Returns whether a send waits for its copy (SendAdvice::copy_later). copy_make() completes the send. Call
  // it as soon as there is nothing else to do, and before anything that ends the user's interest in the send.
  bool copy_owed() const;
  void copy_make(TimeNs now);
  // Returns the number of completions so far, which tells a waiter whether to poll again.
  std::uint64_t completion_count() const;

  // --- unexpected handler -----------------------------------------------------------------------------
  // The handler is called inside on_frame/send for messages that match no posted receive
  // (docs/spec/protocol.md 9.1). It may call send and receive on this endpoint.
  void set_unexpected_handler(UnexpectedHandler handler, void* context);

  // --- driving ----------------------------------------------------------------------------------------
  void on_frame(TimeNs now, wire::Frame frame);
  // Takes a frame that came by another board of the endpoint (Config::rails).
  void on_frame_by(TimeNs now, unsigned rail, wire::Frame frame);
  // Notes that the interface of that board has its carrier again, or lost it.
  void rail_carrier(TimeNs now, unsigned rail, bool up);
  // Does what is due: acknowledgements, resends, time-outs. Call after a batch of frames and when
  // next_deadline() has passed. `more` means that further frames have arrived and are not handed over yet.
  // What seems lost may be among them, so nothing that is due is done yet.
  void progress(TimeNs now, bool more = false);
  // Returns whether short messages wait for others to share their frame (SendAdvice::hold). release() sends
  // them.
  bool held() const;
  bool held_messages() const;  // more than announcements, whose data nothing could send meanwhile
  // Returns whether the held packets ask for the rest of a large message that is the only one being received.
  bool held_question() const;
  TimeNs held_since() const;
  void release(TimeNs now);
  // Returns when progress() must be called; kNever when nothing is scheduled.
  TimeNs next_deadline() const;
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
  // Sends the acknowledgements that are owed. Before closing, call it, then drive the engine until drained()
  // or a limit of time.
  void flush_acks(TimeNs now);
  // Returns whether no send waits for an acknowledgement.
  bool drained() const;

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
  // Returns whether news_take() or lost_take() has something to report.
  bool news() const;
  // Returns what happened to peers, oldest first, each event once. nullopt means no more. Call after
  // progress().
  std::optional<PeerNews> news_take();
  // Returns the messages of PeerNews::lost, each once.
  std::optional<LostMessage> lost_take();
  // Returns when the oldest connect to the peer began that has no answer; kNever if there is none.
  TimeNs silent_since(Peer* peer) const;
  // Returns the last peer that did not answer before its connect ended, once.
  Peer* silent_take();
  // Returns the first bound of each kind that kept something waiting, once.
  HeldUp held_up_take();
  // Returns the number of large or parked sends that wait for nothing but receives.
  std::uint32_t awaiting_receives() const;
  // Tells a link that receives data straight into their place where the data of the next PULL_REPLY frames
  // belong. They are in the order in which the frames should come. Returns how many are known. Data that land
  // there by mistake do no harm, if they are moved (handed to on_frame) or dropped before the next call.
  // `rail` is the board that they come by (Config::rails).
  std::size_t expected_replies(std::span<ExpectedFrame> out, unsigned rail = 0);
  // Does the same for the bulk path: replies, or the fragments of an announced message. All have headers of
  // one size.
  std::size_t expected_by_bulk(TimeNs now, std::span<ExpectedFrame> out);
  // Returns whether the frame is the expected one. This function and on_placed() read only the header
  // (ExpectedFrame::header), whatever length the frame says it has.
  bool is_expected(const ExpectedFrame& expected, wire::Frame frame);
  // Takes a frame whose data are in their place.
  void on_placed(TimeNs now, const ExpectedFrame& expected, wire::Frame frame, unsigned rail = 0);

  // Returns the memory that a large send offers as this region, or nothing.
  RegionMemory region(std::uint8_t number, std::uint8_t generation) const;

  // --- peers ------------------------------------------------------------------------------------------
  Peer* self();
  // Returns the peer at this address, and creates it unconnected if it is new. nullptr: no memory or slots.
  Peer* peer(NicId nic, std::uint8_t endpoint);
  Peer* find_peer(NicId nic, std::uint8_t endpoint);
  Peer* peer_at(std::uint32_t index);  // nullptr if there is none
  std::uint32_t peer_count() const;

  // --- figures ----------------------------------------------------------------------------------------
  struct Memory {
    std::size_t peers = 0, requests = 0, buffers = 0, peer_object = 0;
  };
  Memory memory() const;
  const Counters& counters() const;
  void snapshot(TimeNs now, Snapshot& out);
  // Returns the size of the largest message that is sent eagerly to this peer.
  std::uint32_t eager_max(const Peer* peer) const;

  // For the unit tests and the simulator's checkers.
  State& state() { return *state_; }

 private:
  void placed(const ExpectedFrame& expected, wire::Frame frame);

  std::unique_ptr<State> state_;
};

// Facts about a peer.
struct PeerInfo {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  std::uint32_t index = 0;
  std::uint32_t session = 0xFFFFFFFF;          // of the remote endpoint, if known
  std::uint32_t conversation = 0;              // the open one, or the next
  std::uint32_t ended_session = 0xFFFFFFFF;    // of the remote endpoint, in the last one that ended
  Status gone = Status::endpoint_unreachable;  // how the last conversation ended
  bool extended = false;
  bool checksum = false;
  wire::Mode mode = wire::Mode::omx;
  wire::Mode mode_told = wire::Mode::omx;  // what the peer itself is set to, if it is extended
  std::uint32_t frame_max = 0;             // largest frame proven towards the peer
  std::uint32_t frame_agreed = 0;          // what both ends announced
};
PeerInfo peer_info(const Peer* peer);
// Tell whether messages can be sent, and to which instance.
bool peer_connected(const Peer* peer);
std::uint32_t peer_session(const Peer* peer);
void* peer_context(const Peer* peer);
void peer_set_context(Peer* peer, void* context);

}  // namespace omx::protocol
