// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/udp_fast_path.h"

#include <netinet/udp.h>

#include <algorithm>
#include <cassert>

#include "link/udp/udp_errors.h"
#include "link/udp/udp_socket.h"

namespace omx::link {

UdpFastPath::UdpFastPath(int main, const InterfaceAddress& own, std::uint16_t port)
    : fd_(udp_socket_beside(main, own, port)), own_address_(own), port_(port) {
  if (!fd_.open()) return;
  udp_errors_keep(fd_.get(), is_ipv4(own.ip));
  wire::BulkAddress self;
  self.ip = own.ip;
  self.port = port;
  if (!connect(self)) fd_.reset();
}

bool UdpFastPath::connect(const wire::BulkAddress& to) {
  const SocketAddress address = socket_address(to.ip, to.port, own_address_.ifindex);
  return ::connect(fd_.get(), address.get(), address.length) == 0;
}

void UdpFastPath::choose() {
  assert(!chosen_);
  assert(!draining_);
  streak_ = 0;
  draining_ = false;
  if (!connect(candidate_)) {
    need_ = kStreakMost;
    return;
  }
  chosen_ = true;
  peer_ = candidate_;
  main_first_ = kMainFirst;
  own_ = own_before_ = 0;
  others_ = 0;
}

void UdpFastPath::part() {
  assert(chosen_);
  wire::BulkAddress self;
  self.ip = own_address_.ip;
  self.port = port_;
  if (!connect(self)) return;
  chosen_ = false;
  draining_ = true;
  need_ = own_ < kLong ? std::min(need_ * 4, kStreakMost) : kStreak;
  streak_ = 0;
}

void UdpFastPath::set_apart(bool apart) {
  const int together = apart ? 0 : 1;
  // A kernel without this option (before 5.0) never joins datagrams.
  ::setsockopt(fd_.get(), SOL_UDP, UDP_GRO, &together, sizeof together);
  apart_ = apart;
  lone_ = false;
  behind_ = alone_ = 0;
}

void UdpFastPath::rhythm_learn(bool alone) {
  alone_ = alone ? alone_ + 1 : 0;
  if (!alone) behind_++;
  if (apart_ && behind_ >= kGsoBatches) return set_apart(false);
  if (alone_ < kLone) return;
  behind_ = 0;
  // A datagram that the kernel joined before set_apart(), and that was on its way, has arrived since.
  if (apart_)
    lone_ = true;
  else
    set_apart(true);
}

bool UdpFastPath::receive(UdpDatagram& datagram) {
  assert(fd_.open());
  // Only a datagram behind others can be in a queue that they made. A few of them show its marks.
  const bool looks = !empty_ && behind_lone_++ % kMarkLooks == 0;
  const bool got =
      lone_ && !looks ? datagram.receive_lone(fd_.get(), peer_) : datagram.receive(fd_.get(), &peer_);
  if (got) {
    own_++;
    in_row_++;
    rhythm_learn(empty_ && datagram.frames() == 1);
  }
  empty_ = !got;
  return got;
}

bool UdpFastPath::main_due(TimeNs (*clock)()) {
  if (!chosen_) {
    draining_ = false;
    return true;
  }
  if (++looks_ % kLooksLeast != 0 && !main_asked_) return false;
  const TimeNs now = clock();
  if (!main_asked_ && looks_ < looks_until_main_ && now < main_looked_ + kMainRest) return false;
  main_asked_ = false;
  main_looked_ = now;
  looks_ = 0;
  looks_until_main_ = std::min(2 * looks_until_main_, kLooksMost);
  return true;
}

void UdpFastPath::main_heard(const wire::BulkAddress& from) {
  if (!fd_.open()) return;
  looks_until_main_ = kLooksLeast;
  if (!chosen_) {
    if (!(from == candidate_)) streak_ = 0;
    candidate_ = from;
    // While draining, the socket may still hold the former peer's datagrams, which would be taken for the
    // next peer's.
    if (++streak_ >= need_ && !draining_) choose();
    return;
  }
  in_row_ = 0;
  if (main_first_ > 0) main_first_--;
  if (from == peer_ || ++others_ < kOthers) return;
  if (own_ - own_before_ < std::uint64_t{kOthers} * kShare) part();
  own_before_ = own_;
  others_ = 0;
}

}  // namespace omx::link
