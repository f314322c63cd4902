// SPDX-License-Identifier: BSD-3-Clause
// A second socket at an endpoint's port, connected to whoever it talks with alone: for what goes there the
// kernel looks up no route, and for what comes from there no socket, which is a sixth of a short message's
// time. All others go on using the endpoint's first socket. While nobody is chosen the second one is
// connected to the endpoint itself, from which nothing comes, so that no frame is lost at a change.
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
  // Beside `main`, which is bound to that address and port. Without one, nobody is ever chosen.
  UdpFastPath(int main, const InterfaceAddress& own, std::uint16_t port);

  // Does not change; -1: there is none.
  int descriptor() const { return fd_.get(); }
  bool chosen() const { return chosen_; }
  // From whom what comes by it is.
  const wire::LaneAddress& peer() const { return peer_; }

  // Whether it is to be looked at now, before the main socket. Each has its turn until it is empty after a
  // change, as frames that overtake others look as if those were lost.
  bool leads() const { return fd_.open() && (chosen_ ? main_first_ == 0 && in_row_ < kRow : draining_); }
  // It may hold one although nobody is chosen: what was on its way into it at a change.
  void ask() { draining_ = !chosen_; }
  // A look at it. False: nothing is there (EAGAIN), or errno says what else.
  bool receive(UdpDatagram& datagram);
  // It held none: whether to look at the main socket now. Not each time, as every look takes time.
  bool main_due(TimeNs (*clock)() = clock_now);
  // The next time in any case.
  void main_ask() { main_asked_ = true; }
  // What the main socket held: a datagram from there, or none.
  void main_heard(const wire::LaneAddress& from);
  void main_empty() { main_first_ = in_row_ = 0; }

 private:
  // Datagrams from one peer alone before it is chosen. More, if the last one did not stay for long.
  static constexpr std::uint32_t kStreak = 128, kStreakMost = 1 << 16, kLong = 4096;
  // So many from others, unless there were more than kShare times as many from it, end it.
  static constexpr std::uint32_t kOthers = 16, kShare = 4;
  // Looks at the main socket: one after so many in vain, and the rarer the longer it has held nothing, but
  // after kMainRest at the next kLooksLeast'th: who seldom looks does not look there more rarely.
  static constexpr std::uint32_t kLooksLeast = 8, kLooksMost = 64;
  static constexpr TimeNs kMainRest = 50'000;
  // Datagrams of it in a row, until the main socket is looked at even if there are more.
  static constexpr std::uint32_t kRow = 64;
  // Datagrams that the main socket may hold from before a change.
  static constexpr std::uint32_t kMainFirst = 4096;

  // Of the datagrams by it: so many that came right behind another one show GSO batches, so many alone that
  // there are none.
  static constexpr std::uint32_t kGsoBatches = 8, kLone = 256;

  bool connect(const wire::LaneAddress& to);
  void set_apart(bool apart);
  void rhythm_learn(bool alone);
  void choose();
  void part();

  OwnFd fd_;
  InterfaceAddress own_address_;
  std::uint16_t port_;
  bool chosen_ = false;
  bool draining_ = false;         // nobody is chosen any more, and it may hold datagrams
  std::uint32_t main_first_ = 0;  // most datagrams that the main socket may have before it
  wire::LaneAddress peer_;        // chosen, or last
  wire::LaneAddress candidate_;   // who the main socket heard last
  std::uint32_t streak_ = 0, need_ = kStreak;
  std::uint32_t looks_ = 0, looks_until_main_ = kLooksLeast, in_row_ = 0;
  TimeNs main_looked_ = 0;  // when, by main_due()
  bool main_asked_ = false;
  std::uint64_t own_ = 0, own_before_ = 0;  // from it; when others were counted last
  std::uint32_t others_ = 0;
  // Frames come one by one, so the kernel is not to put them together; and need not say whether it did: a
  // look takes two thirds of the time.
  bool apart_ = false, lone_ = false;
  bool empty_ = false;  // the last look found nothing
  std::uint32_t behind_ = 0, alone_ = 0;
};

}  // namespace omx::link
