// SPDX-License-Identifier: BSD-3-Clause
// Packet sockets with rings, made ahead. The kernel waits for all processors while it makes a ring, often for
// 20 ms, and the broker's loop must not wait that long.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"
#include "link/packet/packet_ring.h"
#include "tools/broker/kernel/private_network.h"

namespace omx::broker {

class RingPool {
 public:
  // The network must outlive the pool. No socket is made before the first take().
  explicit RingPool(const PrivateNetwork& network) : network_(network) {}
  RingPool(const RingPool&) = delete;
  RingPool& operator=(const RingPool&) = delete;
  ~RingPool();

  // Takes a socket with a ring of this geometry. Makes it now if none is ready. From now on sockets of this
  // geometry are made ahead, until none was taken for some seconds.
  Result<OwnFd> take(const link::RingGeometry& ring);

 private:
  // Several threads share one wait of the kernel.
  static constexpr std::size_t kMakers = 4;

  void makers_start();
  void make();
  std::size_t wanted() const;
  Result<OwnFd> socket_make(const link::RingGeometry& ring) const;

  const PrivateNetwork& network_;
  std::mutex mutex_;
  std::condition_variable changed_;
  link::RingGeometry ring_;
  std::vector<OwnFd> ready_;
  std::vector<OwnFd> outdated_;  // to be closed, which takes long
  std::size_t under_way_ = 0;
  unsigned taken_ = 0;   // counts calls of take()
  bool resting_ = true;  // no socket is made ahead
  bool ends_ = false;
  std::vector<std::thread> makers_;
};

}  // namespace omx::broker
