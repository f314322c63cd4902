// SPDX-License-Identifier: BSD-3-Clause
// The engine of one endpoint: sans-I/O and single-threaded. It is given frames, operations and the time; it
// produces frames (through a FrameSink), completions, and the time at which it next wants to be called.
//
// Rules for callers:
//  * one thread at a time (the runtime holds the endpoint's lock);
//  * `now` never goes backwards;
//  * after any call that takes `now`, call sink.flush() before user memory may change;
//  * a Request pointer is valid until its completion is consumed, it is forgotten or cancelled.
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
  // `counters` must outlive the endpoint. `sink` too.
  Endpoint(const Config& config, wire::FrameSink& sink, Counters& counters);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const Config& config() const;

  // --- operations -------------------------------------------------------------------------------------
  // A forgotten operation returns a null Request. Refused operations leave no trace.
  // A hidden request is seen by done() alone, not by find_done and peek_done.
  // no_resources only when the system is out of memory or of partner slots.
  //
  // A connect opens a conversation if there is none, with any instance of the peer that answers but `shunned`
  // (a session): when that one answers, the connect ends as the last conversation did
  // (docs/reference/contract.md).
  Expected<Request*, OpError> connect(TimeNs now, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                      std::uint64_t match_info, void* context, bool forgotten,
                                      bool hidden = false, std::uint32_t shunned = 0xFFFFFFFF);
  Expected<Request*, OpError> send(TimeNs now, const SendOp& op);
  Expected<Request*, OpError> receive(TimeNs now, const ReceiveOp& op);

  // An unmatched receive or pending connect is freed and true returned; false: too late, it will complete
  // (or has). bad_request for sends and what is not held(). With `complete` it ends with status cancelled
  // instead of vanishing.
  Expected<bool, OpError> cancel(Request* request, bool complete = false);
  // No completion wanted; the pointer is dead for the caller. False: it is not held().
  bool forget(Request* request);
  // Fails all that is pending with the partner (unreachable); it may be connected to again.
  void disconnect(TimeNs now, Partner* partner);
  // Gives a request, or with nullptr all later ones, a limit for the peer's silence. kNever: no limit.
  // False: it is not held().
  bool set_timeout(Request* request, TimeNs timeout);

  // --- completions ------------------------------------------------------------------------------------
  // Whether it is a request of this endpoint that was not consumed, forgotten or cancelled. The memory of
  // one that was may serve another.
  bool held(const Request* request) const;
  bool done(const Request* request) const;
  // The request must be done; it is freed.
  Completion consume(Request* request);
  // Oldest done request that matches, or nullptr. Forgotten ones are never seen.
  Request* find_done(std::uint64_t match_info, std::uint64_t match_mask);
  Request* peek_done();
  void* context_of(const Request* request) const;
  RequestKind kind_of(const Request* request) const;
  // Whether the user's memory of that send may be reused already. bad_request for others
  // and what is not held().
  Expected<bool, OpError> buffered(const Request* request) const;
  // The application looks for messages from the source of that receive and will look again: its silence is
  // our business for some seconds, as if the receive were posted. Not pending: such a receive would have
  // ended so since the last look.
  Status watch(TimeNs now, const ReceiveOp& op);
  // Oldest matching unexpected message; stays queued.
  std::optional<Arrival> probe(std::uint64_t match_info, std::uint64_t match_mask,
                               const Partner* source = nullptr, std::uint8_t message_class = 0,
                               std::uint32_t session = 0xFFFFFFFF);
  // Takes such a message out of matching, for receive_claimed or discard later. nullptr: none, or the oldest
  // is still arriving.
  Unexpected* claim(std::uint64_t match_info, std::uint64_t match_mask, const Partner* source,
                    std::uint8_t message_class, std::uint32_t session = 0xFFFFFFFF);
  // As receive(); the match fields of `op` are not used.
  Expected<Request*, OpError> receive_claimed(TimeNs now, Unexpected* message, const ReceiveOp& op);
  // For its sender it was received. False: no memory, the message stays claimed.
  bool discard(TimeNs now, Unexpected* message);
  // Whether pull replies are expected.
  bool pulls_running() const;
  // Whether so many of them ever were that a lane of their own pays. (Synchronous messages are pulled too,
  // however small, and each more socket makes every frame slower.)
  bool bulk_seen() const;
  // What came of large messages by frames of other hosts, and how long some of them ran.
  struct Pace {
    std::uint64_t bytes = 0;
    TimeNs busy = 0;
  };
  Pace pull_pace() const;
  // See Config::lane_pulls.
  void set_lane_pulls(bool allowed);
  // Whether messages wait for nothing but copies (Config::offload).
  bool copies_awaited() const;
  // Whether replies that were asked for by the link are.
  bool pulls_by_link() const;
  // Whether somebody said that frames by the UDP lane are there, and not all of them have come; or we asked
  // for some.
  bool lane_awaited(TimeNs now);
  bool lane_wanted(TimeNs now);
  // Some came.
  void lane_came();
  // Which partner sends by the lane that has this address, and expects frames there; 0: none.
  NicId lane_sender(const wire::LaneAddress& from) const;
  // Whether a receive posted now could find a message that has arrived. If not, posting one needs no time.
  bool unexpected_empty() const;
  // Whether a send waits for its copy (SendAdvice::copy_later); completes it. To be called as soon as there
  // is nothing else to do, and before anything that ends the user's interest in it.
  bool copy_owed() const;
  void copy_make(TimeNs now);
  // Completions so far: tells a waiter whether to look again.
  std::uint64_t completion_count() const;

  // --- unexpected handler -----------------------------------------------------------------------------
  // Called inside on_frame/send for messages that match no posted receive (docs/spec/protocol.md 9.1). It may
  // call send and receive on this endpoint.
  void set_unexpected_handler(UnexpectedHandler handler, void* context);

  // --- driving ----------------------------------------------------------------------------------------
  void on_frame(TimeNs now, wire::Frame frame);
  // One that came by another of its boards (Config::rails).
  void on_frame_by(TimeNs now, unsigned rail, wire::Frame frame);
  // That board's interface has its carrier again, or lost it.
  void rail_carrier(TimeNs now, unsigned rail, bool up);
  // Acks, resends, timeouts that are due. Call after a batch of frames and when next_deadline() has passed.
  // `more`: frames that have arrived are still to be handed over; what seems lost may be among them, so
  // nothing that is due is done yet.
  void progress(TimeNs now, bool more = false);
  // Short messages wait for others to share their frame (SendAdvice::hold); sends them.
  bool held() const;
  bool held_messages() const;  // and not only announcements, whose data nobody could send meanwhile
  // While one large message alone is received: they ask for the rest of it.
  bool held_question() const;
  TimeNs held_since() const;
  void release(TimeNs now);
  // kNever when nothing is scheduled.
  TimeNs next_deadline() const;
  // The application sleeps between frames, or does not any more: large messages of a lone sender are asked
  // for further ahead, so that fewer frames need wake it.
  void set_drowsy(TimeNs now, bool drowsy);
  // The interface's MTU changed.
  void set_mtu(TimeNs now, std::uint32_t mtu);

  // While suspended nothing is delivered; of the frame in work what is left is kept. To be called when the
  // unexpected handler, or another thread while it runs, stops progression: frames may be handed over again
  // when it goes on.
  void suspend(TimeNs now, bool suspended);
  // Before closing: receives are dropped without a word (docs/spec/mx-api.md 4.3) and the handler is not
  // asked any more, so that what still arrives meets nothing that the application has done with.
  void deliveries_end();
  // Sends the acknowledgements that are owed. Before closing: call, then drive until drained() or patience
  // ends.
  void flush_acks(TimeNs now);
  // No send is waiting for an acknowledgement.
  bool drained() const;

  // The endpoint that had this address is known to be gone: fails what is pending with it (closed), but
  // connects, which may be for its successor.
  void peer_gone(TimeNs now, NicId nic, std::uint8_t endpoint);
  // Nothing can be sent to this address, and that will not change by itself: fails what is pending with it
  // (unreachable), connects and receives from there too.
  void peer_unreachable(TimeNs now, NicId nic, std::uint8_t endpoint);
  // The network says that nobody takes this frame of ours. If it is a connect request that waits for its
  // answer, that one ends (closed): it holds our session, which is told to peers only. Nothing else changes,
  // as anybody may say so. False: it is none.
  bool connect_refused(TimeNs now, wire::Frame frame);
  // Whether there is any of the next two.
  bool news() const;
  // What happened to peers, oldest first, each once; nullopt: no more. To be asked after progress().
  std::optional<PeerNews> news_take();
  // The messages of PeerNews::lost, each once.
  std::optional<LostMessage> lost_take();
  // When the oldest connect to the partner began that nothing has answered; kNever if there is none.
  TimeNs silent_since(Partner* partner) const;
  // The last partner that answered nothing until its connect was over; once.
  Partner* silent_take();
  // The first bound of each kind that kept something waiting; once.
  HeldUp held_up_take();
  // Large sends, or such without room at their receiver, that wait for nothing but receives.
  std::uint32_t awaiting_receives() const;
  // For a link that can receive data straight into their place: where those of the next PULL_REPLY frames
  // belong, in the order in which they should come; returns how many are known. What lands there by mistake
  // does no harm, as long as it is moved (handed to on_frame) or dropped before the next call.
  // `rail`: by which of the boards (Config::rails).
  std::size_t expected_replies(std::span<ExpectedFrame> out, unsigned rail = 0);
  // The same of what comes by the UDP lane: replies, or the fragments of a message that was announced. All
  // have headers of one size.
  std::size_t expected_by_lane(TimeNs now, std::span<ExpectedFrame> out);
  // Whether the frame is the expected one. Only its header (ExpectedFrame::header) is read, of this frame and
  // by the next function, whatever length the frame says it has.
  bool is_expected(const ExpectedFrame& expected, wire::Frame frame);
  // Its data are in their place.
  void on_placed(TimeNs now, const ExpectedFrame& expected, wire::Frame frame, unsigned rail = 0);

  // The memory that a large send offers as its region; empty: none does.
  RegionMemory region(std::uint8_t number, std::uint8_t generation) const;

  // --- partners ---------------------------------------------------------------------------------------
  Partner* self();
  // Creates it if it is new, unconnected. nullptr: no memory or slots.
  Partner* partner(NicId nic, std::uint8_t endpoint);
  Partner* find_partner(NicId nic, std::uint8_t endpoint);
  Partner* partner_at(std::uint32_t index);  // nullptr if there is none
  std::uint32_t partner_count() const;

  // --- figures ----------------------------------------------------------------------------------------
  struct Memory {
    std::size_t partners = 0, requests = 0, buffers = 0, partner_object = 0;
  };
  Memory memory() const;
  const Counters& counters() const;
  void snapshot(TimeNs now, Snapshot& out);
  // The largest message sent eagerly to this partner.
  std::uint32_t eager_max(const Partner* partner) const;

  // For the unit tests and the simulator's checkers.
  State& state() { return *state_; }

 private:
  void placed(const ExpectedFrame& expected, wire::Frame frame);

  std::unique_ptr<State> state_;
};

// Facts about a partner.
struct PartnerInfo {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  std::uint32_t index = 0;
  std::uint32_t session = 0xFFFFFFFF;          // of the remote endpoint, if known
  std::uint32_t conversation = 0;              // the open one, or the next
  std::uint32_t ended_session = 0xFFFFFFFF;    // of the remote endpoint, in the last one that ended
  Status gone = Status::endpoint_unreachable;  // how that ended
  bool extended = false;
  bool checksum = false;
  wire::Mode mode = wire::Mode::omx;
  wire::Mode mode_told = wire::Mode::omx;  // what the peer itself is set to, if it is extended
  std::uint32_t frame_max = 0;             // largest frame proven towards it
  std::uint32_t frame_agreed = 0;          // what both announced
};
PartnerInfo partner_info(const Partner* partner);
// Whether messages can be sent, and to which instance.
bool partner_connected(const Partner* partner);
std::uint32_t partner_session(const Partner* partner);
void* partner_context(const Partner* partner);
void partner_set_context(Partner* partner, void* context);

}  // namespace omx::protocol
