// SPDX-License-Identifier: BSD-3-Clause
// What drives the engine: frames, the time, and data that a link or a copy engine puts into their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::protocol {

struct State;

class EndpointDriving {
 public:
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
  // Returns whether messages wait for nothing but copies (Config::offload).
  bool copies_awaited() const;
  // Returns whether replies that were asked for by the link are expected.
  bool pulls_by_link() const;
  // bulk_awaited() returns whether announced frames on the bulk path have not all come.
  // bulk_wanted() also returns true when we asked for frames there.
  bool bulk_awaited(TimeNs now);
  bool bulk_wanted(TimeNs now);
  // Returns whether large messages inside the host are on their way (pull_share.cc). Hand over frames then,
  // and send what the engine has to send, until there are none. share_step() reads a piece of one. Call it
  // when no frame has come for some microseconds, or at once when share_asked() is false.
  bool sharing() const;
  void share_begin(TimeNs now);  // call it for each step, with a time that was just read
  bool share_asked() const;
  void share_step(TimeNs now);
  // Returns false if neither bulk_wanted() nor pulls_by_link() can be true now. Costs less than they do.
  bool bulk_expected() const;
  // Notes that frames came by the bulk path.
  void bulk_came();
  // Returns the peer that uses this address for its bulk path, or 0.
  wire::FrameSender bulk_sender(const wire::BulkAddress& from) const;
  void on_frame(TimeNs now, wire::Frame frame);
  // Notes whether a queue on the path marked the frames that are handed over next (ECN, RFC 3168), until the
  // next call.
  void frames_marked(bool marked);
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
  bool held_any() const;
  bool held_messages() const;  // more than announcements, whose data nothing could send meanwhile
  // Returns whether the held packets ask for the rest of a large message that is the only one being received.
  bool held_question() const;
  TimeNs held_since() const;
  void release(TimeNs now);
  // Returns when progress() must be called; kNever when nothing is scheduled.
  TimeNs next_deadline() const;
  // Returns the same for a caller that sleeps until then. It is later where nothing would be due sooner.
  TimeNs sleep_deadline(TimeNs now);
  // Sends the acknowledgements that are owed. Before closing, call it, then drive the engine until drained()
  // or a limit of time.
  void flush_acks(TimeNs now);
  // Returns whether no send waits for an acknowledgement.
  bool drained() const;
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

 protected:
  explicit EndpointDriving(State& state) : state_(&state) {}
  ~EndpointDriving() = default;

 private:
  void placed(const ExpectedFrame& expected, wire::Frame frame);

  State* state_;
};

}  // namespace omx::protocol
