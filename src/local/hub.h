// SPDX-License-Identifier: BSD-3-Clause
// How an endpoint reaches the other endpoints of its host: by frames, as on the cable, but through shared
// memory; and the data of large messages straight from the sender's memory.
//
// Each direction is a ring of its own. The sender makes it when it has the first frame for a peer, connects
// to the socket by which that endpoint is claimed, and passes it there. The connection stays: its end says
// that the other one is gone, and a byte on it wakes the other one. Not thread-safe: the endpoint's lock
// guards it.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/mac.h"
#include "base/own_fd.h"
#include "local/counters.h"
#include "local/memory.h"
#include "local/ring.h"
#include "protocol/direct.h"
#include "wire/codec.h"

namespace omx::local {

struct Hello;

// An endpoint of this host.
struct Place {
  NicId nic = 0;
  std::uint8_t endpoint = 0;
  bool operator==(const Place&) const = default;
};

struct HubOptions {
  Place self;
  std::vector<NicId> nics;           // of this host: frames to them never leave it
  int listener = -1;                 // where peers connect
  bool direct = true;                // one copy, where the system permits it
  std::uint32_t rndv_threshold = 0;  // messages up to this go through the ring at once; 0: as measured
  // A connection to the peer's listener; not open with errno: ECONNREFUSED when there is no such endpoint.
  std::function<OwnFd(const Place&)> connect;
};

// Is told what comes.
class Arrivals {
 public:
  virtual void on_local_frame(wire::Frame frame) = 0;
  // All that it sent has been handed over.
  virtual void on_local_gone(const Place& peer) = 0;
  // A frame that found no such endpoint.
  virtual void on_local_refused(wire::Frame frame) = 0;

 protected:
  ~Arrivals() = default;
};

class Hub final : public protocol::DirectReader {
 public:
  explicit Hub(HubOptions options);
  ~Hub();

  // Lets peers connect there from now on. False, with errno: a connection would not wake us, and the former
  // listener stays.
  bool listener_set(int listener);
  // False: a connection of a peer would not wake us.
  bool listens() const { return listens_; }
  // Whether a frame that begins with these bytes stays on this host.
  bool reaches(const std::byte* frame) const { return stays(mac_load(frame)); }
  // Copies the frame; what a full ring does not take waits here.
  void send(std::span<const iovec> frame);
  // Ahead of an RNDV: where the message is. The low 8 bits of the region's place are its number.
  void send_region(const Place& to, std::uint16_t region, std::uint8_t generation,
                   std::span<const protocol::Segment> memory);
  void region_ended(std::uint16_t region) override;
  // Wakes the peers that sleep.
  void flush();

  bool pending() const {
    if (backlog_ || !refused_.empty()) return true;
    for (const auto& lane : in_)
      if (lane->ring.pending()) return true;
    return false;
  }
  std::size_t receive(Arrivals& arrivals, std::size_t budget);
  // Who connected, who is gone. A system call: now and then.
  void tick(Arrivals& arrivals);

  // To sleep on; then first fall_asleep(), which says false when there is something to do.
  int descriptor() const { return poll_.get(); }
  bool fall_asleep();
  void wake_up();
  // Frames wait for room in a ring, of which nobody tells us.
  bool backlog() const { return backlog_; }
  // Nothing fitted at the last try.
  bool stuck() const { return stuck_; }
  // Nobody can be let in now, for want of descriptors or memory: to be tried again, as nobody tells us.
  bool deaf() const { return deaf_; }
  // Peers to which no way could be made at the last try, for want of descriptors or memory.
  const std::vector<Place>& unreached() const { return unreached_; }
  // Tries once more. False, with errno: as before.
  bool reach(const Place& to);
  // The peer is given up: only the next frame for it tries again.
  void unreached_forget(const Place& to);
  // Frames that found nobody there are still to be told of.
  bool refusals() const { return !refused_.empty(); }

  protocol::NearPath path(NicId nic, std::uint8_t endpoint) const override;
  bool read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
            std::uint64_t offset, std::span<const protocol::Segment> to, std::uint64_t length) override;
  bool unread(NicId nic, std::uint8_t endpoint) const override;
  const HubCounters& counters() const { return counters_; }

 private:
  struct Waiting {
    Kind kind;
    std::vector<std::byte> bytes;
  };
  struct LaneOut {
    Place to;
    OwnFd connection;
    SharedMemory memory;
    RingWriter ring;
    std::deque<Waiting> waiting;
    std::size_t waiting_bytes = 0;
    bool touched = false;  // since the last flush
  };
  struct Region {
    std::uint8_t generation = 0;
    std::uint64_t life = 0;     // which the sender's word has while the memory is the region's ...
    std::uint64_t life_at = 0;  // ... there, in its process
    std::vector<iovec> memory;
  };
  struct LaneIn {
    Place from;
    int pid = 0;
    bool readable = false;  // we may read its memory
    bool gone = false;
    std::uint64_t ends = ~std::uint64_t{0};  // where reading what it left behind does, when it is gone
    OwnFd connection;
    SharedMemory memory;
    RingReader ring;
    std::vector<std::unique_ptr<Region>> regions;  // by place
  };

  // Whether it is a NIC of this host.
  bool stays(NicId nic) const {
    for (const NicId own : options_.nics)
      if (own == nic) return true;
    return false;
  }
  LaneOut* lane_to(const Place& to);
  LaneOut* lane_open(const Place& to);
  void put(LaneOut& lane, Kind kind, std::span<const iovec> pieces, std::size_t least);
  bool drain(LaneOut& lane);
  LaneIn* lane_from(const Place& from);
  void lane_adopt(OwnFd connection, const Hello& hello, OwnFd memory);
  bool lane_fill(LaneIn& lane, const OwnFd& connection, const Hello& hello, OwnFd memory);
  // hub_direct.cc
  bool memory_readable(int pid, std::uint64_t proof_at) const;
  std::atomic<std::uint64_t>& life_of(std::uint16_t region);
  // That of the number and generation; nullptr: none was announced.
  static std::unique_ptr<Region>* region_find(LaneIn& lane, std::uint8_t region, std::uint8_t generation);
  void region_learn(LaneIn& lane, std::span<const std::byte> bytes);
  std::size_t receive_from(LaneIn& lane, Arrivals& arrivals, std::size_t budget);
  bool watch(int fd);
  void strangers_accept();
  void strangers_hear();
  bool lane_hear(int fd);
  void lanes_end(Arrivals& arrivals);
  // hub_refusals.cc: who stays without messages, each told of once
  void refused_listener(const Place& to, const ucred& who);
  void no_way(const Place& to, int error);
  void no_room(int error);
  void refused_stranger(const OwnFd& connection, const ucred& who);
  void refused_version(const OwnFd& connection, const Hello& hello);
  bool told_once(std::uint64_t whom);

  HubOptions options_;
  OwnFd poll_;
  bool listens_ = false;
  std::vector<std::unique_ptr<LaneOut>> out_;
  std::vector<std::unique_ptr<LaneIn>> in_;
  std::vector<OwnFd> strangers_;  // connected, and have not said who they are
  LaneOut* last_out_ = nullptr;
  bool touched_ = false;
  bool backlog_ = false, stuck_ = false;
  bool deaf_ = false;
  std::deque<std::vector<std::byte>> refused_;
  std::vector<std::uint64_t> told_;
  std::vector<Place> unreached_;
  HubCounters counters_;
  // By region of ours: what it is known by while its memory may be read, or 0. Peers know where: they stay.
  static constexpr std::size_t kLivesAtOnce = 256;
  using Lives = std::array<std::atomic<std::uint64_t>, kLivesAtOnce>;
  std::vector<std::unique_ptr<Lives>> lives_;
};

}  // namespace omx::local
