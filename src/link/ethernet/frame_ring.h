// SPDX-License-Identifier: BSD-3-Clause
// The receive ring of a packet link's data socket. It is made again when the socket or the MTU changes.
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
  // All arguments must outlive the ring.
  FrameRing(DataSocket& socket, WakeupSocket& wakeup, LinkCounters& counters)
      : socket_(socket), wakeup_(wakeup), counters_(counters) {}
  ~FrameRing() override {
    if (socket_.shared()) member_leave();
  }

  // Maps the ring. Returns 0 or errno.
  int map();
  // Uses a member of a group instead of a socket of our own. Returns false when that fails; the member is no
  // longer held then.
  bool member_enter(FanoutMember member);
  void member_leave();
  // Returns whether to leave the group. To be asked about once a second.
  bool group_wrong();
  // Makes the ring again if larger frames need larger slots. Frames that wait in the old ring are lost; the
  // protocol recovers.
  void fit();
  // Makes the ring again, with a socket of our own. With `tell`, a failure is logged.
  void renew(bool tell);
  // Makes the ring of a socket that was just set. Logs a failure.
  void enter();
  // Forgets the ring. To be called before the socket is replaced.
  void forget() { ring_.forget(); }

  bool mapped() const { return ring_.mapped(); }
  bool pending() const { return ring_.mapped() && ring_.front(); }
  std::size_t receive(FrameHandler& handler, std::size_t budget);

  bool hold_enable() override {
    wants_hold_ = true;
    return holds_ = ring_.mapped() && ring_.hold_prepare();
  }
  std::uint32_t held() const override { return ring_.held(); }
  std::uint32_t slots() const override { return holds_ ? ring_.geometry().slots() : 0; }
  void give_back(std::uint64_t ticket) override { ring_.give_back_up_to(ticket); }
  // Makes a new ring. The old memory is unmapped, so a device that is late cannot reach it.
  void abandon() override { renew(true); }

 private:
  RingGeometry wanted() const;
  bool misdirected(wire::Frame frame) const;
  int own_hook();
  int granted_renew();
  void entered(int error, bool tell);

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
