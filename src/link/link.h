// SPDX-License-Identifier: BSD-3-Clause
// A way to move frames: one small interface, bound when an endpoint opens. Batch in, batch out.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/expected.h"
#include "base/mac.h"
#include "netdev/interface_state.h"
#include "wire/codec.h"
#include "wire/frame_io.h"
#include "wire/udp_nic.h"

namespace omx::link {

class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  // `frame` is valid during the call only, unless frame_held() says otherwise.
  virtual void on_frame(wire::Frame frame) = 0;
  // After on_frame: the ticket of the copy that still reads the frame; 0: nobody does. Asked of links that
  // may_hold().
  virtual std::uint64_t frame_held() { return 0; }
  // The network says that nobody takes this frame of ours where it went: all of it, or as much as came back,
  // at least wire::kHeadBytes. Who says so may lie.
  virtual void on_refused(wire::Frame) {}
};

// Takes frames of the bulk lane, whose data the link may receive straight into their place.
class BulkHandler {
 public:
  virtual ~BulkHandler() = default;
  // Whose lane it is, if anybody's: only its frames are taken from there. 0: nobody's.
  virtual NicId lane_sender(const wire::LaneAddress&) { return 0; }
  // Whether to look there for more after what it just took. A look in vain costs as much as a short message.
  virtual bool lane_more() { return true; }
  // Where the data (what follows the first wire::kBulkHeader bytes) of the next frames belong, in the order
  // in which they should come; returns how many are known. What lands in a wrong place is moved or dropped
  // before the next call.
  virtual std::size_t bulk_places(std::span<iovec> places) = 0;
  // The same of a UDP lane, where other frames come, too: `header` is what precedes the data of each, at most
  // wire::kMediumHeaderMost bytes.
  virtual std::size_t lane_places(std::span<iovec> places, std::size_t& header) {
    header = wire::kBulkHeader;
    return bulk_places(places);
  }
  // Whether a frame is what place `index` was for. Only its header may be read, though it has its size.
  virtual bool bulk_in_place(std::size_t index, wire::Frame frame) = 0;
  // Such a frame, in its turn.
  virtual void on_bulk_placed(std::size_t index, wire::Frame frame) = 0;
  // Any other frame, valid during the call.
  virtual void on_bulk_frame(wire::Frame frame) = 0;
};

// What a link's UDP lane can do for it.
struct LaneInfo {
  wire::LaneAddress address;  // to tell others; not present: there is none
  unsigned network_bits = 0;  // of the address
  bool fragments = false;     // it also gains for the fragments of medium messages
  std::uint32_t window = 0;   // bytes that its socket holds
};

struct LinkCounters {
  std::uint64_t frames_sent = 0, bytes_sent = 0, send_calls = 0, send_errors = 0;
  std::uint64_t frames_received = 0, bytes_received = 0, receive_batches = 0;
  std::uint64_t trains_sent = 0, trains_received = 0;  // several frames that passed the kernel as one
  std::uint64_t bulk_placed = 0, bulk_moved = 0;  // data that were received into their place, or elsewhere
  std::uint64_t ring_drops = 0;                   // frames the kernel dropped because our ring was full
  // Longer than a slot (the filter keeps own copies and others' frames out), or by UDP from nobody we know.
  std::uint64_t frames_ignored = 0;
  // For other endpoints, to our place in a hook group: the group is not in order, or was not a moment ago.
  std::uint64_t frames_misdirected = 0;
  std::uint64_t frames_by_xdp = 0;  // of those received
  std::uint64_t frames_alone = 0;   // of those received by UDP: by the socket of who talks with us alone
};

class Link : public wire::FrameSink {
 public:
  // Hands up to `budget` frames to the handler, which must not call receive or refresh; returns how many.
  // Never blocks.
  virtual std::size_t receive(FrameHandler& handler, std::size_t budget) = 0;
  // Whether receive() reads a ring of frames, from which large messages can be taken as well as by lanes.
  virtual bool has_ring() const { return false; }
  // Whether frames of receive() can stay where they are while copies read them, and if so, that they shall.
  virtual bool may_hold() { return false; }
  // Frames that stay, and for how many there is room: when it is full no other comes.
  virtual std::uint32_t frames_held() const { return 0; }
  virtual std::uint32_t frames_room() const { return 0; }
  // Copies up to this ticket are over.
  virtual void frames_give_back(std::uint64_t) {}
  // Somebody may read what it held for ever: it is never used for frames again. Frames that wait are lost.
  virtual void frames_abandon() {}
  // Large messages are on their way to us: a link that has a lane for them opens it. Cheap when it is open.
  // False: they come by receive().
  virtual bool bulk_expect() { return false; }
  // They shall come by receive() again. What is in the lane already is read there. False: the lane still
  // takes them; to be tried again.
  virtual bool bulk_forgo() { return true; }
  // A lane that takes none and was read until it was empty is not needed for long. One that could not be had
  // may be tried again.
  virtual void bulk_close() {}
  // As receive(), from that lane; 0 when there is none. Costs a system call or two.
  virtual std::size_t bulk_receive(BulkHandler&, std::size_t) { return 0; }
  // To sleep on beside descriptor(); -1 when there is none.
  virtual int bulk_descriptor() const { return -1; }
  // A lane for large messages by UDP, beside the other.
  virtual LaneInfo lane() const { return {}; }
  virtual std::size_t lane_receive(BulkHandler&, std::size_t) { return 0; }
  virtual int lane_descriptor() const { return -1; }
  // A descriptor that polls readable when a frame came that its sender marked as urgent: to sleep on instead
  // of the others while a stream of frames passes that nobody waits for. It costs every frame a little, so it
  // is opened when first asked for; false when the link has none.
  virtual bool bell_open() { return false; }
  virtual int bell_descriptor() const { return -1; }
  // After it was readable: forgets the frames that rang.
  virtual void bell_clear() {}
  // After descriptor() polled POLLERR: true when that is no trouble of the interface, but about frames that
  // the network could not deliver. The next receive() looks at it and makes poll() sleep again.
  virtual bool errors_are_news() { return false; }
  // Why frames to that NIC do not arrive, as far as anybody said; else empty. Not proven.
  virtual std::string complaint(NicId) const { return {}; }
  // Whether receive() would find something: the cheapest possible look, for poll loops.
  virtual bool pending() = 0;
  // Whether that look is a system call: a poll does not repeat it then.
  virtual bool look_is_call() const { return false; }
  // Whether that look took something from the kernel, of which no descriptor tells any more.
  virtual bool holds() const { return false; }
  // A descriptor that polls readable when frames wait; refresh() may change it where others share our hook.
  // POLLERR says that the interface went down or away: call refresh(), which also makes poll() sleep again. A
  // forked child must not touch the link. When it polled readable, frames_ask() makes receive() look there as
  // soon as the one below holds nothing.
  virtual int descriptor() const = 0;
  virtual void frames_ask() {}
  // Another one for frames of receive(), which does not change; -1: there is none. When it polled readable,
  // favourite_ask() makes the next receive() look there in any case.
  virtual int favourite_descriptor() const { return -1; }
  virtual void favourite_ask() {}
  // Another one, for frames of those who do not know our address; -1: there is none. When it polled readable,
  // strangers_ask() makes the next receive() look there; it does so from time to time in any case.
  virtual int strangers_descriptor() const { return -1; }
  virtual void strangers_ask() {}
  virtual NicId nic() const = 0;
  // What carries the frames, for people.
  virtual const char* name() const { return "raw frames"; }
  virtual std::uint32_t mtu() const = 0;  // as last read by refresh()
  // Reads interface state again: false while the interface is down, without carrier or gone. Cheap enough for
  // once a second. When the MTU has grown the receive ring is made again, and frames that wait in it are
  // lost.
  virtual bool refresh() = 0;
  // Why, as of the last refresh(). It may say `readdressed` while refresh() returns true: frames leave then.
  virtual Outage outage() const { return Outage::none; }
  // The interface, as it was seen last: index, MAC address, MTU.
  virtual InterfaceState interface_now() const { return {}; }
  // After Outage::returned: goes on with the interface that has the name now. Frames that waited are lost,
  // and descriptors are others. Returns 0 or errno; EOPNOTSUPP: this link stays without it.
  virtual int follow() { return EOPNOTSUPP; }
  virtual const LinkCounters& counters() const = 0;
  // Frames for endpoints that are neither ours nor among these are received, too, from now on: nobody has
  // them open. A link that cannot tell goes on as it is.
  virtual void hear_closed(const std::vector<std::uint8_t>&) {}
  // The largest frame that any path carries, as far as one may know without asking.
  virtual std::uint32_t base_frame() const { return 1514; }
  // Bytes of frames that it can hold for us while we do not look; 0: as many as anybody may send.
  virtual std::uint32_t window() const { return 0; }
};

inline constexpr std::uint32_t kAllHooks = 256;

// What a packet link is opened for.
struct PacketLinkOptions {
  std::string interface = {};  // name
  std::uint8_t endpoint = 0;   // only frames for this endpoint id pass the filter ...
  bool board_frames = true;    // ... and, if set, HOST_QUERY, HOST_REPLY, RAW discovery, and CONNECT requests
                               // to any endpoint id of the board (so that closed ones can be refused)
  bool bulk = true;            // a lane of its own for pull replies, opened by bulk_expect()
  bool udp = false;            // a lane by UDP, where the interface has an IP address
  bool all_frames = false;     // no endpoint filter (tools, raw endpoint)
  // So many endpoints of the interface have a protocol hook of their own; those that come later share one
  // (hook_group.h). From kAllHooks on nobody looks how many there are.
  std::uint32_t own_hooks = kAllHooks;
  std::uint32_t ring_frames = 1024;  // receive slots; rounded so that the ring stays below ring_bytes
  std::uint32_t ring_bytes = 32U << 20;
  std::uint32_t batch = 32;  // frames per send call
};

// 0 if this process may open packet sockets, else errno.
int packet_links_possible();

// Opens AF_PACKET with a memory-mapped receive ring. Failures name the remedy (missing CAP_NET_RAW, no such
// interface). An interface that is down is opened with a warning: it works when it comes up.
Result<std::unique_ptr<Link>> packet_link_open(const PacketLinkOptions& options);

// What a UDP link is opened for.
struct UdpLinkOptions {
  std::string interface = {};
  std::uint8_t endpoint = 0;
  std::uint16_t port = 0;                       // of endpoint 0; the others' follow
  bool lane = true;                             // a second port for large messages, kUdpLanePorts further on
  wire::IpFamily family = wire::IpFamily::any;  // of the interface's address
};
inline constexpr std::uint16_t kUdpLanePorts = 256;

// Frames as UDP datagrams: needs no privileges, and passes routers. The NIC id is made of the interface's
// address (wire/udp_nic.h), and frames to such an id go there. Failures name the remedy (no address, port in
// use).
Result<std::unique_ptr<Link>> udp_link_open(const UdpLinkOptions& options);

}  // namespace omx::link
