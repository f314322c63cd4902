// SPDX-License-Identifier: BSD-3-Clause
// The connected fast-path socket: a second socket at an endpoint's port, connected to a peer while the
// endpoint exchanges frames with that peer alone. The kernel then looks up no route for outgoing frames and
// no socket for incoming ones, which saves a sixth of a short message's time. Frames of all other peers go
// by the endpoint's main socket. While no peer is chosen, the second socket is connected to the endpoint
// itself. Nothing comes from there, so no frame is lost at a change.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/own_fd.h"
#include "link/udp/udp_address.h"
#include "link/udp/udp_datagram.h"

namespace omx::link {

//        datagrams in a row from one peer alone
//   none --------------------------------------> chosen
//    ^                                             |
//    | the socket is empty                         | others send as well
//    +---------------- draining <------------------+
//
class UdpFastPath {
 public:
  // Opens the socket beside `main`, which is bound to that address and port. Without a socket, no peer is
  // ever chosen.
  UdpFastPath(int main, const InterfaceAddress& own, std::uint16_t port);

  // Returns a descriptor that does not change, or -1 when there is none.
  int descriptor() const { return fd_.get(); }
  bool chosen() const { return chosen_; }
  // Returns the peer that the socket's datagrams come from.
  const wire::BulkAddress& peer() const { return peer_; }

  // Returns whether this socket is to be polled now, before the main socket. After a change each socket is
  // read until it is empty, because a frame that overtakes others makes those look lost.
  bool leads() const { return fd_.open() && (chosen_ ? main_first_ == 0 && in_row_ < kRow : draining_); }
  // Makes leads() true although no peer is chosen. A datagram may have been on its way into the socket at a
  // change.
  void ask() { draining_ = !chosen_; }
  // Polls the socket. Returns false when nothing is there (EAGAIN) or on an error, with errno set.
  bool receive(UdpDatagram& datagram);
  // Returns, when this socket was empty, whether to poll the main socket now. It does not say so each time,
  // because every poll takes time.
  bool main_due(TimeNs (*clock)() = clock_now);
  // Makes main_due() return true the next time.
  void main_ask() { main_asked_ = true; }
  // Learns from what the main socket held: a datagram from this address, or none.
  void main_heard(const wire::BulkAddress& from);
  void main_empty() { main_first_ = in_row_ = 0; }

 private:
  // Datagrams in a row from one peer before it is chosen. More are needed if the last peer did not stay for
  // long.
  static constexpr std::uint32_t kStreak = 128, kStreakMost = 1 << 16, kLong = 4096;
  // The peer is given up after kOthers datagrams from others, unless it sent at least kShare times as many
  // meanwhile.
  static constexpr std::uint32_t kOthers = 16, kShare = 4;
  // The main socket is polled once per some polls of this one that find nothing. The longer the main socket
  // stays empty, the more polls that takes. After kMainRest it is polled at the next multiple of
  // kLooksLeast. A thread that polls rarely is therefore not slowed further.
  static constexpr std::uint32_t kLooksLeast = 8, kLooksMost = 64;
  static constexpr TimeNs kMainRest = 50'000;
  // Datagrams in a row from this socket before the main socket is polled, too.
  static constexpr std::uint32_t kRow = 64;
  // Datagrams that the main socket may hold from before a change.
  static constexpr std::uint32_t kMainFirst = 4096;

  // kGsoBatches datagrams that came right behind another show that the peer sends GSO batches. kLone single
  // datagrams in a row show that it does not.
  static constexpr std::uint32_t kGsoBatches = 8, kLone = 256;
  // Of so many datagrams that are received one behind the other, one is read with its mark.
  static constexpr std::uint32_t kMarkLooks = 8;

  bool connect(const wire::BulkAddress& to);
  void set_apart(bool apart);
  void rhythm_learn(bool alone);
  void choose();
  void part();

  OwnFd fd_;
  InterfaceAddress own_address_;
  std::uint16_t port_;
  bool chosen_ = false;
  bool draining_ = false;         // no peer is chosen any more, and the socket may hold datagrams
  std::uint32_t main_first_ = 0;  // most datagrams to read from the main socket first
  wire::BulkAddress peer_;        // chosen, or last
  wire::BulkAddress candidate_;   // the peer that the main socket heard last
  std::uint32_t streak_ = 0, need_ = kStreak;
  std::uint32_t looks_ = 0, looks_until_main_ = kLooksLeast, in_row_ = 0;
  TimeNs main_looked_ = 0;  // when main_due() last returned true
  bool main_asked_ = false;
  std::uint64_t own_ = 0, own_before_ = 0;  // datagrams of the peer: now; when others were last counted
  std::uint32_t others_ = 0;
  // apart_: frames come one by one, so the kernel need not join them. lone_: the kernel need not say whether
  // it joined or marked them, which makes a poll take two thirds of the time.
  bool apart_ = false, lone_ = false;
  bool empty_ = false;  // the last poll found nothing
  std::uint32_t behind_ = 0, alone_ = 0, behind_lone_ = 0;
};

}  // namespace omx::link
