// SPDX-License-Identifier: BSD-3-Clause
// A second packet socket that takes only an endpoint's pull replies. The ring costs the sending side of a
// veth (and the interrupt side of a NIC) a copy of every frame. Here the receiver makes that copy, many
// frames per system call, so that the two sides share the work. Each packet socket costs every frame about
// 50 ns. It is therefore open only while large messages use it.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/own_fd.h"
#include "link/bulk_path.h"
#include "link/link_counters.h"
#include "link/packet/granted_sockets.h"

namespace omx::link {

class BulkSocket {
 public:
  BulkSocket() = default;
  BulkSocket(const BulkSocket&) = delete;
  BulkSocket& operator=(const BulkSocket&) = delete;

  // Opens the socket. Returns false when the socket or memory cannot be had, or when the receive buffer
  // would be too small. A buffer is too small without CAP_NET_ADMIN and with a low net.core.rmem_max. The
  // ring then goes on taking all frames.
  bool open(std::uint32_t ifindex, std::uint8_t endpoint, std::uint32_t mtu);
  // Opens the socket as open() does, but does not make it itself. `granted` must outlive the object.
  bool open_granted(GrantedSockets& granted, std::uint32_t mtu);
  bool is_open() const { return fd_.open(); }
  int descriptor() const { return fd_.get(); }
  // Sets whether the socket takes new frames. Returns false when that fails and nothing changed.
  bool admit(bool frames) const;
  void close();
  // Makes room for frames of this MTU. Returns false when memory is short; frames larger than before would
  // then be cut.
  bool fit(std::uint32_t mtu);

  std::size_t receive(BulkHandler& handler, std::size_t budget, LinkCounters& counters);

 private:
  static constexpr std::size_t kBatch = 32, kFewest = 4;
  enum class Fate : std::uint8_t { frame, placed, cut };
  struct Batch {
    mmsghdr messages[kBatch];
    iovec pieces[kBatch][3];  // header, data, what follows
    iovec places[kBatch];
    Fate fates[kBatch];
  };

  std::byte* slot(std::size_t i) const { return memory_.get() + i * slot_; }
  void prepare(std::size_t count, std::size_t places);
  void judge(BulkHandler& handler, std::size_t i);

  OwnFd fd_;
  GrantedSockets* granted_ = nullptr;
  std::uint32_t ifindex_ = 0;
  std::uint8_t endpoint_ = 0;
  std::size_t slot_ = 0;
  std::size_t ahead_ = kFewest;          // frames to ask for: twice the last batch, as each costs preparation
  std::unique_ptr<std::byte[]> memory_;  // reused for every batch, so it stays in the cache
  std::unique_ptr<Batch> batch_;
};

}  // namespace omx::link
