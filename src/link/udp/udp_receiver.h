// SPDX-License-Identifier: BSD-3-Clause
// The receiving side of a UDP link. Hands over the datagrams of its sockets as frames, and keeps what the
// network says of frames that did not arrive.
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
  // `fd` is bound to the address and port. Frames leave by `batch`. All arguments but `fd` must outlive the
  // object.
  UdpReceiver(OwnFd fd, const UdpLinkOptions& options, const InterfaceAddress& address, GsoBatch& batch,
              LinkCounters& counters);

  // Listens to the multicast group in which peers ask that do not know our address, on the address's
  // interface.
  void group_join(const InterfaceAddress& address);
  int descriptor() const { return fd_.get(); }
  // Returns the routes, which say where frames for a NIC go.
  UdpRoutes& routes() { return routes_; }
  std::size_t receive(FrameHandler& handler, std::size_t budget);
  // Returns whether receive() would find something. Receives a waiting datagram at once, which costs no more
  // than the poll.
  bool pending();
  // Does as FrameSink::marks_forgo().
  void marks_forgo();
  // Makes the next receive() poll for errors, and the connected fast-path socket.
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
  // A program that polls reads that socket once in this many polls. One that sleeps is woken by it.
  static constexpr std::uint32_t kPollsPerUnknownPeer = 1024;

  wire::FrameSender sender_of(const wire::BulkAddress& from);
  bool unknown_peers_due() { return unknown_peers_.open() && ++looks_ > kPollsPerUnknownPeer; }
  bool fetch();
  // Notes why the last poll found nothing. Returns true if nothing was there, false on an error.
  bool nothing();
  std::size_t hand_over(FrameHandler& handler);
  std::size_t unknown_peers_take(FrameHandler& handler, std::size_t budget);
  void errors_take(FrameHandler& handler);
  bool ours(wire::Frame frame, const wire::BulkAddress& to) const;

  UdpLinkOptions options_;
  NicId nic_;
  OwnFd fd_;
  UdpFastPath fast_path_;
  OwnFd unknown_peers_;  // for datagrams to the group in which we listen
  std::uint32_t window_ = 0;
  std::uint32_t looks_ = 0;
  UdpRoutes routes_;
  UdpDatagram datagram_;
  bool handing_over_ = false;  // the datagram is in use: a handler may run without the endpoint's lock
  bool held_ = false;          // pending() received a datagram that receive() has not handed over yet
  bool quiet_ = false;         // the last poll found nothing
  bool errors_due_ = false;    // the network may have reported something
  // The last error that the network reported: about which NIC, which error, and which host reported it.
  NicId missed_ = 0;
  int missed_why_ = 0;
  Ip missed_by_{};
  GsoBatch& batch_;
  LinkCounters& counters_;
};

}  // namespace omx::link
