// SPDX-License-Identifier: BSD-3-Clause
// The packet socket by which the frames of an endpoint come and go: one of its own, or that of a member of a
// packet fanout group.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/own_fd.h"
#include "link/fanout/fanout_member.h"
#include "link/packet/packet_filter.h"
#include "link/packet/packet_options.h"
#include "netdev/interface_state.h"

namespace omx::link {

class DataSocket {
 public:
  // `fd`: ready, or closed, if a member is taken next. `licence`: for a hook of our own.
  DataSocket(OwnFd fd, OwnFd licence, PacketLinkOptions options, const InterfaceState& state)
      : options_(std::move(options)), state_(state), licence_(std::move(licence)), fd_(std::move(fd)) {}

  // Makes a new socket that of an endpoint, without a ring. Returns 0 or errno.
  static int ready(int fd, const FilterProgram& filter);

  const PacketLinkOptions& options() const { return options_; }
  // That of the interface that the socket is bound to.
  const InterfaceState& state() const { return state_; }
  InterfaceState& state() { return state_; }
  int descriptor() const { return member_.held() ? member_.socket() : fd_.get(); }
  // Whether it is a member in a group.
  bool shared() const { return member_.held(); }
  FanoutMember& member() { return member_; }
  void member_set(FanoutMember member) { member_ = std::move(member); }

  // Frames for endpoints that are not among these are received, too. Takes effect with filter_attach().
  void others_set(const std::vector<std::uint8_t>& others) { others_ = others; }
  // Returns 0 or errno.
  int filter_attach(Lane lane) const;
  // Makes a socket of our own, ready and bound, that takes all lanes. Returns 0 or errno.
  int own_make(OwnFd& fresh) const;
  // Uses that one. The member was left before.
  void own_set(OwnFd fresh);
  // Takes a licence again, if there is one.
  void licence_renew();

 private:
  FilterProgram filter(Lane lane, bool shared) const;

  PacketLinkOptions options_;
  InterfaceState state_;
  std::optional<std::vector<std::uint8_t>> others_;
  OwnFd licence_;
  OwnFd fd_;
  FanoutMember member_;  // held: its socket is used instead
};

}  // namespace omx::link
