// SPDX-License-Identifier: BSD-3-Clause
// Everything inside an engine, as plain data, and the functions over it, grouped by the file they live in.
// Callers of the engine use endpoint.h.
//
// The road of a message out: send.cc (queue, window) -> eager_tx.cc or large.cc (frames) -> frames.cc
// (bytes). In: rx.cc (which packet) -> rx_message.cc (numbers, order) -> deliver.cc (matching, data) ->
// completion.cc.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "base/buffer_pool.h"
#include "base/expected.h"
#include "base/list.h"
#include "base/slab.h"
#include "protocol/config.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/lane.h"
#include "protocol/matching.h"
#include "protocol/multi.h"
#include "protocol/observer.h"
#include "protocol/packing.h"
#include "protocol/parked.h"
#include "protocol/partner.h"
#include "protocol/probe_watch.h"
#include "protocol/pull.h"
#include "protocol/pull_schedule.h"
#include "protocol/pulls.h"
#include "protocol/rails.h"
#include "protocol/regions.h"
#include "protocol/request.h"
#include "protocol/timer.h"
#include "protocol/types.h"
#include "protocol/unasked.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::protocol {

inline constexpr std::uint32_t kEarlyWindow = 255;  // numbers ahead that are kept (docs/spec/protocol.md 4)
inline constexpr std::uint32_t kSendWindow = 8191;  // numbers outstanding (docs/spec/protocol.md 5.4)
inline constexpr std::uint32_t kReferenceEagerFrames = 250;
inline constexpr std::uint32_t kMaxFragments = 64;      // of a medium message: the receiver's bit mask
inline constexpr std::uint32_t kFragmentHeaders = 114;  // what a fragment of a base frame lacks at most
// Outside these no size makes sense; the loopback's 65536 is more than a frame length can say.
inline constexpr std::uint32_t kMtuLeast = 256, kMtuMost = 65535;

// A message that arrived too early, number by number. Exists only while a partner has a hole.
struct EarlyFrame {
  EarlyFrame* next = nullptr;
  std::uint32_t length = 0;  // of the frame, which follows this header
};
struct EarlySlot {
  std::uint64_t mask = 0;  // fragments held
  EarlyFrame* frames = nullptr;
  bool complete = false;
};
struct EarlyWindow {
  std::array<EarlySlot, 256> slots;  // by number modulo 256
  std::uint32_t frames = 0;
};

struct State {
  State(const Config& config, wire::FrameSink& sink, Counters& counters);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Config config;
  wire::FrameSink& sink;
  Counters& counters;
  TimeNs now = 0;     // of the call in progress; see running_time.h
  TimeNs absent = 0;  // time in which the engine was not run
  TimeNs default_timeout;
  bool closing = false, timeouts_differ = false;  // those of requests
  bool suspended = false;                         // see Endpoint::suspend

  // Memory. The pools outlive everything that holds their buffers: declared first.
  BufferPool buffers;        // unexpected messages, early frames
  BufferPool send_buffers;   // copies of buffered sends
  BufferPool segment_lists;  // bounded by the application's requests only: it must be able to post receives
  Slab<Request> requests;
  Slab<Unexpected> unexpected_slab;
  Slab<Pull> pulls;
  Slab<MultiReceive, 16> multis;
  Slab<EarlyWindow, 4> early_windows;
  Slab<Partner, 16> partner_slab;

  // Partners.
  std::vector<Partner*> partners;      // by index; 0 is ourselves
  std::vector<Partner*> partner_hash;  // chains by (nic, endpoint)
  Partner* last_partner = nullptr;
  Partner* myself = nullptr;
  std::uint32_t own_frame = 0;  // largest frame our interface carries

  // Matching and completion.
  PostedReceives posted;
  UnexpectedQueue unexpected;
  List<Unexpected, &Unexpected::all> claimed;  // taken out of it, and not yet received
  List<Request, &Request::done> done;
  std::vector<std::unique_ptr<List<Request, &Request::done_context>>> done_by_context;
  std::uint64_t completions = 0;
  std::uint32_t zombies = 0;
  Room room;
  Request* uncopied = nullptr;  // see SendOp::copy_later; on its way
  UnexpectedHandler handler = nullptr;
  void* handler_context = nullptr;

  Regions regions;  // of large sends
  List<Partner, &Partner::region_wait> region_waiters;

  // Pulls by slot of their handle.
  std::vector<PullSlot> pull_slots;
  std::vector<std::uint16_t> pull_free;
  List<Pull, &Pull::all> pull_list;     // running
  List<Pull, &Pull::all> pull_waiting;  // for a slot
  List<Pull, &Pull::all> pull_copying;  // all data are here, but not all in their place
  PullSchedule pulling;
  std::array<PullExpected, kRailsMost> expected;  // by rail
  std::uint32_t pull_age = 0;                     // of the youngest
  bool bulk_seen = false;                         // a pull so large that a lane of its own pays
  LaneOwners lane_owners;
  // Boards (rails.cc).
  RailAliases rail_aliases;
  std::uint64_t rail_probes = 0;
  std::uint8_t rails_gone = 0;  // bit i: that one has no carrier
  std::uint8_t rx_rail = 0;     // by which the frame in work came,
  NicId rx_nic = 0;             // from whom
  // What was announced may come by the UDP lane.
  LaneAwaited lane_awaited;
  Unasked unasked;
  // How large messages that run now were asked for.
  bool pulls_by_lane = false, pulls_by_link = false;

  Partner* silent = nullptr;  // the last connect to it had no answer
  // Of the conversation that ends now, see PeerNews.
  std::uint32_t ending_failed = 0, ending_lost = 0;
  std::vector<ProbeWatch> probe_watches;
  std::deque<PeerNews> news;           // see news.h
  List<Request, &Request::done> lost;  // sends that failed after they were complete for the application
  TimeNs probes_since = 0;             // so many connects ...
  std::uint32_t probes_sent = 0;       // ... began a probe since then (probe.cc)

  Packing packing;

  TimerHeap timers;
  List<Partner, &Partner::ack_now> ack_now;

  std::uint64_t& count(Counter id) { return counters[id]; }
  // What Config::buffer_bytes bounds.
  std::size_t buffers_held() const {
    return buffers.in_use() + (unexpected_slab.live() - room.envelopes) * sizeof(Unexpected) +
           early_windows.live() * sizeof(EarlyWindow);
  }
  // Whether one more message of `bytes` stays within it.
  bool room_for_unexpected(std::size_t bytes) const {
    const std::size_t buffer = bytes > 0 ? BufferPool::capacity_of(bytes) : 0;
    return buffers_held() + sizeof(Unexpected) + buffer <= buffers.limit();
  }
};

// Notes it for whoever looks at a process that hangs.
inline void history_note(State& s, Happened what, const Partner* p, std::uint64_t match_info = 0,
                         std::uint64_t length = 0, Seqnum seqnum = 0) {
  if (!s.config.history) return;
  s.config.history->add({s.now + s.absent, match_info, p ? p->nic : 0, static_cast<std::uint32_t>(length),
                         seqnum, p ? p->endpoint : std::uint8_t{0}, what});
}

// --- partner.cc --------------------------------------------------------------------------------------------
Partner* partner_find(State& s, NicId nic, std::uint8_t endpoint);
Partner* partner_create(State& s, NicId nic, std::uint8_t endpoint);  // nullptr: no memory or slots
// Ends the conversation: fails all that is pending with the partner and forgets its session
// (docs/spec/protocol.md 7). Everything later towards it fails with `status` until another conversation is
// opened.
void partner_cleanup(State& s, Partner& p, Cleanup why, Status status = Status::endpoint_unreachable);
// Begins another count of received numbers; the peer learns it from the next CONNECT.
void partner_renumber(Partner& p);
// Sizes from mode, agreed features and the proven frame.
void partner_update_sizes(State& s, Partner& p);
std::uint32_t partner_overhead(const Partner& p);
// The largest frame that we can exchange with it, as far as we know.
inline std::uint32_t partner_frame(const State& s, const Partner& p) {
  return p.near_frame ? p.near_frame : s.own_frame;
}
// Gives up a partner whose frames became so small that a medium message under way cannot be repeated.
void partner_sizes_check(State& s, Partner& p);
TimeNs partner_rto(const State& s, const Partner& p);
// Up to a quarter longer, and differently for each pair: who lost frames in the same overflow must not cause
// the next one together.
TimeNs partner_spread(const State& s, const Partner& p, TimeNs delay);
// What was sent to it has not been read, and is not lost (direct.h).
bool partner_reads_later(const State& s, const Partner& p);
// Any valid packet proves that it lives.
void news_back(State& s, Partner& p);  // news.cc: a silent one is heard again
inline void partner_heard(State& s, Partner& p) {
  if (p.silence_told) [[unlikely]]
    news_back(s, p);
  p.last_heard = s.now;
  p.pings_unanswered = 0;
}

// Whether the endpoint has several.
inline bool rails_used(const State& s) {
  return s.config.rails.count > 1;
}

// --- frames.cc: bytes on their way out ---------------------------------------------------------------------
wire::Head frame_head(const State& s, const Partner& p, wire::PacketType type);
// A frame of that head.
inline wire::TxFrame& frame_begin(State& s, const Partner& p, std::uint32_t segments) {
  if (p.rails) [[unlikely]]
    return s.sink.rail_begin(p.rails->home, segments);
  return s.sink.frame_begin(segments);
}
std::uint8_t frame_flags(const Partner& p, bool urgent);
// Puts the checksum directly behind the header (frames whose length fields cover the header only).
void frame_finish_header(wire::TxFrame& frame);
// Ends a frame begun with room for segments + 1: adds the checksum where agreed, and commits it.
void frame_finish(State& s, wire::TxFrame& frame, bool checksum);

// --- send.cc -----------------------------------------------------------------------------------------------
Expected<Request*, OpError> send_start(State& s, const SendOp& op);
// Sends what window and resources allow of the partner's queue.
// `at_once`: nothing else is likely to leave with it.
void send_pump(State& s, Partner& p, bool at_once = false);
void send_queue_notify(State& s, Request& receive);
// Sends it again, and counts why, unless the first one still waits to be read.
void send_retransmit(State& s, Request& r, Counter why);
// The partner acknowledged it.
void send_acknowledged(State& s, Request& r);
void send_release_buffer(State& s, Request& r);
// Makes a copy, if there is memory, of which the host's share is part, and sends need none to be
// acknowledged.
bool send_buffer(State& s, Request& r);
// Completes the send that waits for its copy.
void send_copy(State& s);

// --- eager_tx.cc -------------------------------------------------------------------------------------------
// Fields that TINY, SMALL, MEDIUM and RNDV share. Every one carries the freshest acknowledgement.
void message_fill(State& s, const Request& r, bool urgent, wire::Message& packet);
// The same without what is one message's own.
void header_fill(const State& s, const Partner& p, Seqnum seqnum, bool urgent, wire::Message& packet);
wire::HeaderExt ext_of(const Request& r);
// All data of a short message, from its own copy or the user's memory.
void payload_copy(const Request& r, std::byte* out);
void eager_transmit(State& s, Request& r);  // tiny and small
bool medium_fits(const Partner& p, const Request& r);
void medium_transmit(State& s, Request& r);
void notify_transmit(State& s, Request& r);
std::uint32_t eager_limit(const State& s, const Partner& p);
std::uint32_t medium_unit(const Partner& p);
// A message sent with large fragments must still fit the mask if the frame falls back to the base size.
inline std::uint32_t base_medium_max(const State& s) {
  return kMaxFragments * (s.config.base_frame - kFragmentHeaders);
}

// --- pack.cc: short messages that share frames -------------------------------------------------------------
// The message joins others, to be sent by pack_release; false: it is sent by itself.
bool pack_add(State& s, const Request& r);
void pack_release(State& s);
// While it lives, what is sent may wait for more; also when memory runs out meanwhile.
class MayPack {
 public:
  MayPack(State& s, bool may, bool announcements = false) : s_(s) {
    s_.packing.allowed = may;
    s_.packing.announces = announcements;
  }
  ~MayPack() { s_.packing.allowed = s_.packing.announces = false; }
  MayPack(const MayPack&) = delete;
  MayPack& operator=(const MayPack&) = delete;

 private:
  State& s_;
};
// Its messages are failed.
void pack_drop(State& s, const Partner& p);

// --- share.cc: packets without data that share frames ------------------------------------------------------
// While it lives, they may wait for pack_release.
class Gathers {
 public:
  explicit Gathers(State& s, bool may = true) : s_(s), before_(s.packing.gathers) {
    s_.packing.gathers = may;
  }
  ~Gathers() { s_.packing.gathers = before_; }
  Gathers(const Gathers&) = delete;
  Gathers& operator=(const Gathers&) = delete;

 private:
  State& s_;
  const bool before_;
};
// The application's handler, which may take its time: nothing waits for it, nor what is done meanwhile.
HandlerAction handler_call(State& s, const Arrival& arrival);
// A packet without data, with its Ethernet header.
struct Draft {
  std::byte header[wire::kHeaderCapacity];
  std::size_t length = 0;
};
// It leaves, or waits for others.
void packet_send(State& s, Partner& p, const Draft& draft);
// By a board that is not the partner's home; it shares no frame.
void packet_send_by(State& s, const Partner& p, const Draft& draft, unsigned rail);
// One that came with others in a frame.
void share_receive(State& s, wire::Frame frame, wire::Frame packet);
// Room for `bytes` of records to the partner, of the kind that is asked for; nullptr: they are sent by
// themselves.
std::byte* pack_room(State& s, Partner& p, bool packets, Seqnum first, std::uint32_t bytes);

// --- large.cc ----------------------------------------------------------------------------------------------
void region_release(State& s, Request& r);
void rndv_transmit(State& s, Request& r);
// The receiver of a large message is done with `length` bytes of it.
void large_notified(State& s, Partner& p, const wire::Notify& packet);

// --- lane.cc: large messages by UDP ------------------------------------------------------------------------
void lane_agree(State& s, Partner& p, const wire::ConnectExt& ext);
void lane_forget(State& s, Partner& p);
// The NIC whose partner has that lane; 0: none.
NicId lane_owner(const State& s, const wire::LaneAddress& from);
// Our MTU changed.
void lane_resize(State& s, std::uint32_t own_frame_before);
// What a frame by the lane holds.
wire::Sizes lane_sizes(const State& s, const Partner& p);
// A message that would go by the partner's lane cannot yet: shows that it is reached.
inline constexpr std::uint32_t kLaneBytes = 4 * 1024, kLaneFragments = 3;  // shorter ones gain nothing
void lane_offer(State& s, Partner& p);
void lane_show(State& s, Partner& p);
// A PROBE about lanes.
void lane_probe_received(State& s, Partner& p, const wire::Probe& packet);
// What the partner's PULL says about it.
void lane_asked(State& s, Partner& p, const wire::Pull& packet);
// What was asked for by our lane does not come.
void lane_in_fails(State& s, Partner& p);
// A medium message that went by it was acknowledged, or must be sent again.
void lane_medium_done(const State& s, Partner& p, const Request& r);
void lane_medium_lost(State& s, Request& r);
// What was sent there is announced by the link: the receiver may not look there, or sleep. Of a medium
// message the last fragment is the announcement.
// `answer`: which to a pull, of which more comes than was sent (wire::lane_answer()); 0: all was sent.
void lane_announce(State& s, Partner& p, std::uint32_t answer = 0);
// Bytes of the fragments of a message whose length needs kLaneFragments and more.
std::uint32_t lane_unit(const State& s, const Partner& p, std::uint32_t length);
// The partner announced pull replies, or that message, or that answer.
void lane_announced(State& s, Partner& p, std::optional<Seqnum> message, std::uint32_t answer = 0);
bool lane_awaited(State& s, TimeNs now);
// Where the fragments of the message belong that is on its way there, if that is known.
std::size_t medium_expected(State& s, std::span<ExpectedFrame> out);
// A look at it found something.
void lane_came(State& s);

// --- connect.cc --------------------------------------------------------------------------------------------
Expected<Request*, OpError> connect_start(State& s, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                          std::uint64_t match_info, void* context, bool forgotten,
                                          bool hidden, std::uint32_t shunned = wire::kUnknownSession);
void connect_received(State& s, const wire::Head& head, wire::Frame frame);
bool connect_refused(State& s, wire::Frame frame);
void connect_transmit(State& s, Request& r);
// One ended without an answer. If it was the last hope, the count that it offered is over: the peer may have
// taken it up, and would use it for ever.
void connect_in_vain(State& s, Partner& p, const Request& r);
// An unsolicited connect request to a silent partner: its answer proves that the same instance lives.
void connect_ping(State& s, Partner& p);
// The same, though not more often than keep-alives.
void connect_ask(State& s, Partner& p);

// --- reference.cc: numbers with peers that have no epochs --------------------------------------------------
// Its request.
void reference_request(State& s, Partner& p, const wire::Connect& packet);
// Its reply; `r` nullptr: to a ping. False: the ping is repeated, as the numbers changed meanwhile.
bool reference_reply(State& s, Partner& p, const Request* r, const wire::Connect& packet);
// Whether a reply of the instance that we know, in `session`, shows that it still counts as we do.
bool reference_in_step(Partner& p, std::uint32_t session, Seqnum start);
// Makes our session known to a peer that connected to us only.
void reference_connect_back(State& s, Partner& p);

// --- probe.cc ----------------------------------------------------------------------------------------------
void probe_start(State& s, Partner& p);
// A new partner; what it agreed is larger than what is proven.
void probe_at_connect(State& s, Partner& p);
// A message of this length comes or goes.
inline void probe_at_message(State& s, Partner& p, std::uint32_t length) {
  if (p.probe_wanted && length > s.config.base_frame) [[unlikely]]
    probe_start(s, p);
}
void probe_tick(State& s, Partner& p);
enum class LaneProbe : std::uint8_t { by_lane, alone, look, seen };
void probe_lane(State& s, Partner& p, LaneProbe which, std::uint32_t size, std::uint32_t cookie);
// By that board of ours to that one of the partner.
void probe_rail(State& s, Partner& p, unsigned rail, NicId to, std::uint32_t size, bool is_reply,
                std::uint32_t cookie);
void probe_received(State& s, const wire::Head& head, wire::Frame frame);
// Large frames seem not to get through any more.
void probe_fall_back(State& s, Partner& p);

// --- ack.cc ------------------------------------------------------------------------------------------------
void ack_apply(State& s, Partner& p, Seqnum ack);
// How long answers take is not known, as too much was repeated: asks for one that tells.
void trip_ask(State& s, Partner& p);
// When a message is sent again that later ones have passed (Request::passed_at).
TimeNs passed_due(const Request& r);
void ack_received(State& s, const wire::Head& head, wire::Frame frame);
void ack_needed(State& s, Partner& p);  // the next wanted number moved
void ack_immediately(State& s, Partner& p);
void ack_piggybacked(Partner& p);  // another packet just carried it
void ack_transmit(State& s, Partner& p);
void ack_flush(State& s, bool delayed_too);

// --- retransmit.cc -----------------------------------------------------------------------------------------
void retransmit_arm(State& s, Partner& p);
void retransmit_timer(State& s, Partner& p);
void timers_run(State& s);

// --- nack.cc -----------------------------------------------------------------------------------------------
void nack_lib_send(State& s, const wire::Head& head, wire::Frame frame, std::uint8_t to_endpoint,
                   Seqnum seqnum, wire::NackCode code);
void nack_mcp_send(State& s, const wire::Head& head, wire::Frame frame, const wire::Pull& pull,
                   wire::NackCode code);
void nack_lib_received(State& s, const wire::Head& head, wire::Frame frame);
Status nack_status(wire::NackCode code);

// B2 of the endpoint packets.
inline std::uint8_t load_src_endpoint(wire::Frame frame) {
  return frame.size() > 18 ? static_cast<std::uint8_t>(frame[18]) : 0;
}

// --- rx.cc, rx_message.cc, early.cc ------------------------------------------------------------------------
void rx_frame(State& s, wire::Frame frame);
void rx_drop(State& s, wire::Drop reason);  // counts why
// Partner and checksum of a frame from (head.src, src_endpoint). False: drop it (counted).
bool rx_checksum_ok(State& s, const Partner* p, wire::Frame frame);
void rx_message(State& s, const wire::Head& head, wire::Frame frame, bool from_early);
void rx_pack(State& s, const wire::Head& head, wire::Frame frame);
// Whether a frame is the expected fragment; if so, takes it whose data are in their place.
bool medium_is(State& s, const ExpectedFrame& expected, wire::Frame frame);
void medium_placed(State& s, const ExpectedFrame& expected, const wire::Head& head, wire::Frame frame);
bool early_store(State& s, Partner& p, Seqnum seqnum, wire::Frame frame, std::uint32_t fragment,
                 std::uint32_t fragments);
void early_drain(State& s, Partner& p);
void early_drop(State& s, Partner& p);
void early_drop_data(State& s, Partner& p);

// --- deliver.cc: matching and data of one message ----------------------------------------------------------
enum class Delivery { complete, incomplete, refused };
// The receive for a new message, or nullptr; keeping the message if there is none; giving it up with its
// partner. All pass through these three, so that the observer sees them.
Request* arrival_take(State& s, const Partner& from, std::uint64_t match_info, std::uint8_t message_class,
                      std::uint32_t msg_length);
void arrival_keep(State& s, Unexpected& u);
void arrival_drop(State& s, Unexpected& u);
Delivery deliver_eager(State& s, Partner& p, const wire::Eager& packet, const std::byte* data);
// Without data: they are in the place that partial_place() named.
Delivery deliver_medium(State& s, Partner& p, const wire::Medium& packet, std::uint32_t unit,
                        const std::byte* data);
// Where the message that is arriving has these bytes; nullptr: nowhere, or not in one piece.
std::byte* partial_place(const Partial& partial, std::uint32_t offset, std::uint32_t length);
Delivery deliver_rndv(State& s, Partner& p, const wire::Rndv& packet, const std::byte* tail);
void partial_abandon(State& s, Partner& p, Status status);
void unexpected_free(State& s, Unexpected& u);

// --- receive.cc --------------------------------------------------------------------------------------------
Expected<Request*, OpError> receive_start(State& s, const ReceiveOp& op);
Expected<Request*, OpError> claimed_receive(State& s, Unexpected& u, const ReceiveOp& op);
// A message was matched to a receive: fills what the completion says.
void receive_matched(Request& r, Partner* p, std::uint32_t session, std::uint64_t match_info,
                     std::uint32_t msg_length, bool has_data, std::uint64_t data);
void receive_count(State& s, const Request& r);
// All data are in place.
void receive_complete(State& s, Request& r);
void receive_rndv(State& s, Request& r, const wire::Rndv& rndv, const std::byte* tail);

// --- self.cc -----------------------------------------------------------------------------------------------
void self_send(State& s, Request& r);
// Those that waited while nothing was delivered.
void self_pump(State& s);
void self_match(State& s, Request& receive, Unexpected& u);

// --- completion.cc -----------------------------------------------------------------------------------------
Request* request_create(State& s, RequestKind kind);
// Whether it is a request that the user may still name: not of another endpoint, nor gone.
bool request_held(const State& s, const Request* r);
// The user may see the result now.
void request_user_done(State& s, Request& r, Status status);
// The protocol needs it no more; frees it if the user does not either.
void request_protocol_done(State& s, Request& r);
// Both at once.
void request_finish(State& s, Request& r, Status status);
void request_user_gone(State& s, Request& r);
std::uint32_t context_id(const State& s, std::uint64_t match_info);

}  // namespace omx::protocol
