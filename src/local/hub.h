// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint reaches the other endpoints of its host. Frames pass as on the cable, but through shared
// memory. The data of large messages come straight from the sender's memory.
//
// Each direction is a ring of its own. The sender makes it when it has the first frame for a peer. It
// connects to the socket by which that endpoint is claimed, and passes the ring there. The connection stays.
// The end of the connection says that the peer is gone, and a byte on the connection wakes the peer.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/mac.h"
#include "local/arrivals.h"
#include "local/counters.h"
#include "local/descriptor_set.h"
#include "local/hub_options.h"
#include "local/incoming.h"
#include "local/outgoing.h"
#include "local/own_regions.h"
#include "local/refusals.h"
#include "local/unknown_peers.h"
#include "protocol/direct.h"

namespace omx::local {

// Not thread-safe: the endpoint's lock guards it.
class Hub final : public protocol::DirectReader {
 public:
  explicit Hub(HubOptions options);
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Lets peers connect to that socket from now on. Returns false, with errno, when a connection would not
  // wake us; then the former listener stays.
  bool listener_set(int listener) { return unknown_.listener_set(listener); }
  // Returns whether a connection of a peer wakes us.
  bool listens() const { return unknown_.listens(); }
  // Returns whether a frame that begins with these bytes stays on this host.
  bool reaches(const std::byte* frame) const { return options_.stays(mac_load(frame)); }
  // Copies the frame to the peer's ring. What a full ring does not take waits here.
  void send(std::span<const iovec> frame);
  // Sends a frame at once, with the zeros that follow a short one (wire::FrameSink::send_now), and wakes the
  // peer if it sleeps.
  void send_now(wire::Frame frame);
  // Announces the memory of a large message, ahead of its RNDV. The low 8 bits of the region's place are its
  // number.
  void send_region(const Place& to, std::uint16_t region, std::uint8_t generation,
                   std::span<const protocol::Segment> memory);
  void region_ended(std::uint16_t region) override { regions_.end(region); }
  // Wakes the peers that sleep.
  void flush() { outgoing_.flush(); }

  // Returns whether receive() has something to do.
  bool pending() const { return outgoing_.backlog() || !refused_.empty() || incoming_.pending(); }
  // Hands over frames, of each peer at most `budget` records. Returns the number of frames.
  std::size_t receive(Arrivals& arrivals, std::size_t budget);
  // Lets in peers that have connected, and reports those that are gone. It makes a system call, so it is due
  // now and then.
  void tick(Arrivals& arrivals);

  // Returns the descriptor to sleep on. fall_asleep() has to come first, and returns false when there is
  // something to do. wake_up() takes that back.
  int descriptor() const { return descriptors_.descriptor(); }
  bool fall_asleep() { return refused_.empty() && incoming_.fall_asleep(); }
  void wake_up() { incoming_.wake_up(); }
  // As in Outgoing: whether frames wait for room in a ring, and whether nothing fitted at the last try.
  bool backlog() const { return outgoing_.backlog(); }
  bool stuck() const { return outgoing_.stuck(); }
  // As in UnknownPeers: whether no peer can be let in now.
  bool masked() const { return unknown_.masked(); }
  // Returns peers to which no path could be made at the last try, for lack of descriptors or memory.
  const std::vector<Place>& unreached() const { return outgoing_.unreached(); }
  // Tries once more. Returns false, with errno, if there is still no path.
  bool reach(const Place& to) { return outgoing_.to(to) != nullptr; }
  // Gives the peer up: only the next frame for it tries again.
  void unreached_forget(const Place& to) { outgoing_.unreached_forget(to); }
  // Returns whether frames are still to be reported whose destination endpoint does not exist.
  bool refusals() const { return !refused_.empty(); }

  protocol::IntraNodePath path(NicId nic, std::uint8_t endpoint) const override;
  bool read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
            std::uint64_t offset, std::span<const protocol::Segment> to, std::uint64_t length) override;
  bool awake(NicId nic, std::uint8_t endpoint) const override {
    return incoming_.readable({nic, endpoint}) && outgoing_.awake({nic, endpoint}) && !options_.crowded();
  }
  bool unread(NicId nic, std::uint8_t endpoint) const override { return outgoing_.unread({nic, endpoint}); }
  void wake_reader(NicId nic, std::uint8_t endpoint) override { outgoing_.wake_reader({nic, endpoint}); }
  const HubCounters& counters() const { return counters_; }

 private:
  bool hear(int fd);

  const HubOptions options_;
  HubCounters counters_;
  DescriptorSet descriptors_;
  Refusals refusals_;
  Outgoing outgoing_;
  Incoming incoming_;
  UnknownPeers unknown_;
  std::deque<std::vector<std::byte>> refused_;  // heads of frames whose destination endpoint does not exist
  OwnRegions regions_;                          // the last member, so that regions end before connections do
};

}  // namespace omx::local
