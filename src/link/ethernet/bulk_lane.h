// SPDX-License-Identifier: BSD-3-Clause
// A second packet socket that takes an endpoint's pull replies only. The ring costs the sending side of a
// veth (and the interrupt side of a NIC) a copy of every frame; here the receiver makes that copy, many
// frames per system call, so that the two sides share the work. Each packet socket costs every frame about 50
// ns, so it is not open before large messages arrive, nor while they come by the ring for long.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/own_fd.h"
#include "link/bulk_path.h"
#include "link/link_counters.h"

namespace omx::link {

class BulkLane {
 public:
  BulkLane() = default;
  BulkLane(const BulkLane&) = delete;
  BulkLane& operator=(const BulkLane&) = delete;

  // False when socket or memory cannot be had or its receive buffer would be too small (no CAP_NET_ADMIN and
  // a low net.core.rmem_max): the ring then goes on taking all frames.
  bool open(std::uint32_t ifindex, std::uint8_t endpoint, std::uint32_t mtu);
  bool is_open() const { return fd_.open(); }
  int descriptor() const { return fd_.get(); }
  // Whether it is to take new frames; false: it goes on as it did.
  bool admit(bool frames) const;
  void close();
  // Frames may be this large from now on. False: no memory, larger ones than before would be cut.
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
  std::uint32_t ifindex_ = 0;
  std::uint8_t endpoint_ = 0;
  std::size_t slot_ = 0;
  std::size_t ahead_ = kFewest;  // frames to ask for: twice what came last, as each costs some preparation
  std::unique_ptr<std::byte[]> memory_;  // reused for every batch, so it stays in the cache
  std::unique_ptr<Batch> batch_;
};

}  // namespace omx::link
