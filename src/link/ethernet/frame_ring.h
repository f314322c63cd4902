// SPDX-License-Identifier: BSD-3-Clause
// The receive ring of a packet link's data socket: made, read, made again when the socket or the MTU changes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "link/ethernet/data_socket.h"
#include "link/ethernet/wakeup_socket.h"
#include "link/frame_handler.h"
#include "link/link_counters.h"
#include "link/packet/packet_ring.h"
#include "link/ring.h"

namespace omx::link {

class FrameRing final : public Ring {
 public:
  // All must outlive it.
  FrameRing(DataSocket& socket, WakeupSocket& wakeup, LinkCounters& counters)
      : socket_(socket), wakeup_(wakeup), counters_(counters) {}
  ~FrameRing() override {
    if (socket_.shared()) member_leave();
  }

  // Returns 0 or errno.
  int map();
  // Instead of a socket of its own. False: it does not work; not held any more.
  bool member_enter(FanoutMember member);
  void member_leave();
  // Whether to leave the group. To be asked about once a second.
  bool group_wrong();
  // Larger frames need larger slots. Frames that wait in the old ring are lost; the protocol recovers.
  void fit();
  // Makes it again, with a socket of our own. `tell`: a failure is news.
  void renew(bool tell);
  // Before the socket is replaced.
  void forget() { ring_.forget(); }

  bool mapped() const { return ring_.mapped(); }
  bool pending() const { return ring_.mapped() && ring_.front(); }
  std::size_t receive(FrameHandler& handler, std::size_t budget);

  bool hold_enable() override {
    wants_hold_ = true;
    return holds_ = ring_.mapped() && ring_.hold_prepare();
  }
  std::uint32_t held() const override { return ring_.held(); }
  std::uint32_t room() const override { return holds_ ? ring_.geometry().slots() : 0; }
  void give_back(std::uint64_t ticket) override { ring_.give_back_up_to(ticket); }
  // Unmapped, it cannot be reached by a device that comes late.
  void abandon() override { renew(true); }

 private:
  RingGeometry wanted() const;
  bool misdirected(wire::Frame frame) const;
  int own_hook();

  DataSocket& socket_;
  WakeupSocket& wakeup_;
  LinkCounters& counters_;
  PacketRing ring_;
  bool wants_hold_ = false;
  bool holds_ = false;  // copies may read frames after receive()
  std::uint64_t misdirected_seen_ = 0;
  unsigned wrong_looks_ = 0;
};

}  // namespace omx::link
