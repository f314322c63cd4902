// SPDX-License-Identifier: BSD-3-Clause
// The packet socket by which an endpoint's frames come and go. It is the endpoint's own, or that of a member
// of a packet fanout group.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/own_fd.h"
#include "link/fanout/fanout_member.h"
#include "link/packet/granted_sockets.h"
#include "link/packet/packet_filter.h"
#include "link/packet/packet_options.h"
#include "link/packet/packet_ring.h"
#include "netdev/interface_state.h"

namespace omx::link {

class DataSocket {
 public:
  // `fd` is a socket that ready() prepared, or closed if member_set() follows. `licence` is for a hook of
  // our own.
  DataSocket(OwnFd fd, OwnFd licence, PacketLinkOptions options, const InterfaceState& state)
      : options_(std::move(options)), state_(state), licence_(std::move(licence)), fd_(std::move(fd)) {}

  // Prepares a new socket for an endpoint, without a ring. Returns 0 or errno.
  static int ready(int fd, const FilterProgram& filter);

  const PacketLinkOptions& options() const { return options_; }
  // Returns the state of the interface that the socket is bound to.
  const InterfaceState& state() const { return state_; }
  InterfaceState& state() { return state_; }
  int descriptor() const { return member_.held() ? member_.socket() : fd_.get(); }
  // Returns where the sockets come from, or nullptr if this process makes them itself.
  GrantedSockets* granted() const { return options_.granted.get(); }
  // Returns the geometry of a granted socket's ring.
  const RingGeometry& granted_ring() const { return granted_ring_; }
  // Returns whether the socket is that of a member of a group.
  bool shared() const { return member_.held(); }
  FanoutMember& member() { return member_; }
  void member_set(FanoutMember member) { member_ = std::move(member); }

  // Also receives frames for endpoints that are not in this list. Takes effect with filter_attach().
  void others_set(const std::vector<std::uint8_t>& others) { others_ = others; }
  // Attaches the filter for this class of frames. Returns 0 or errno.
  int filter_attach(FrameClass frames) const;
  // A socket that replaces the present one. `ring`: if it is granted, the geometry of its ring.
  struct Fresh {
    OwnFd socket;
    RingGeometry ring;
  };
  // Makes a socket of our own, prepared and bound, that takes frames of all classes. Returns 0 or errno.
  int own_make(Fresh& fresh) const;
  // Uses this socket from now on. The member must have left its group before.
  void own_set(Fresh fresh);
  // Returns how often the socket was replaced. Granted sockets beside a former one are silent.
  unsigned replacements() const { return replacements_; }
  // Takes a licence for a hook of our own again, if there is one.
  void licence_renew();

 private:
  FilterProgram filter(FrameClass frames, bool shared) const;

  PacketLinkOptions options_;
  InterfaceState state_;
  std::optional<std::vector<std::uint8_t>> others_;
  OwnFd licence_;
  OwnFd fd_;
  RingGeometry granted_ring_;
  unsigned replacements_ = 0;
  FanoutMember member_;  // while held, its socket is used instead
};

}  // namespace omx::link
