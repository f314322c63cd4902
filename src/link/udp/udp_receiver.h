// SPDX-License-Identifier: BSD-3-Clause
// The receiving side of a UDP link: its sockets, whose datagrams are handed over as frames, and what the
// network says of those that did not arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/own_fd.h"
#include "link/datagram.h"
#include "link/frame_handler.h"
#include "link/link_counters.h"
#include "link/udp/gso_batch.h"
#include "link/udp/udp_datagram.h"
#include "link/udp/udp_directory.h"
#include "link/udp/udp_fast_path.h"
#include "link/udp/udp_options.h"

namespace omx::link {

class UdpReceiver final : public Datagram {
 public:
  // `fd`: bound to the address and port. `batch`: by which frames leave. All but `fd` must outlive it.
  UdpReceiver(OwnFd fd, const UdpLinkOptions& options, const InterfaceAddress& address, GsoBatch& batch,
              LinkCounters& counters);

  // Listens to the multicast group in which those ask who do not know our address, on the address's
  // interface.
  void group_join(const InterfaceAddress& address);
  int descriptor() const { return fd_.get(); }
  // Where frames for a NIC go.
  UdpRoutes& routes() { return routes_; }
  std::size_t receive(FrameHandler& handler, std::size_t budget);
  // A datagram that is there is received at once, which costs no more than the look.
  bool pending();
  // The next receive() looks for errors, and at the connected fast-path socket.
  void look_all() {
    errors_due_ = true;
    fast_path_.ask();
  }

  DatagramLimits limits() const override;
  bool holds() const override { return held_; }
  void main_poll() override { fast_path_.main_ask(); }
  int fast_path_descriptor() const override { return fast_path_.descriptor(); }
  void fast_path_poll() override { fast_path_.ask(); }
  int unknown_peers_descriptor() const override { return unknown_peers_.get(); }
  void unknown_peers_poll() override { looks_ = kPollsPerUnknownPeer; }
  bool errors_are_news() override { return errors_due_ = true; }
  std::string complaint(NicId nic) const override;

 private:
  // A program that polls looks there so often; one that sleeps is woken.
  static constexpr std::uint32_t kPollsPerUnknownPeer = 1024;

  NicId sender_of(const wire::LaneAddress& from);
  bool unknown_peers_due() { return unknown_peers_.open() && ++looks_ > kPollsPerUnknownPeer; }
  bool fetch();
  // Why the last look found none: true, or an error.
  bool nothing();
  std::size_t hand_over(FrameHandler& handler);
  std::size_t unknown_peers_take(FrameHandler& handler, std::size_t budget);
  void errors_take(FrameHandler& handler);
  bool ours(wire::Frame frame, const wire::LaneAddress& to) const;

  UdpLinkOptions options_;
  NicId nic_;
  OwnFd fd_;
  UdpFastPath fast_path_;
  OwnFd unknown_peers_;  // takes what is sent to the group in which we listen
  std::uint32_t window_ = 0;
  std::uint32_t looks_ = 0;
  UdpRoutes routes_;
  UdpDatagram datagram_;
  bool held_ = false;        // pending() received it, receive() has not handed it over yet
  bool quiet_ = false;       // the last look found nothing
  bool errors_due_ = false;  // perhaps the network said something
  // The last of what it said: about whom, what, and who said so.
  NicId missed_ = 0;
  int missed_why_ = 0;
  Ip missed_by_{};
  GsoBatch& batch_;
  LinkCounters& counters_;
};

}  // namespace omx::link
