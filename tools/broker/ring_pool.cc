// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/ring_pool.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/no_signals.h"
#include "netdev/socket_buffer.h"
#include "tools/broker/kernel/sealed_socket.h"

namespace omx::broker {

namespace {

constexpr std::size_t kReadyMost = 8, kReadyBytes = std::size_t{32} << 20;
constexpr std::chrono::seconds kRest{10};

bool same(const link::RingGeometry& a, const link::RingGeometry& b) {
  return a.slot_bytes == b.slot_bytes && a.block_bytes == b.block_bytes && a.blocks == b.blocks &&
         a.slots_per_block == b.slots_per_block;
}

}  // namespace

RingPool::~RingPool() {
  {
    const std::lock_guard guard(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& maker : makers_) maker.join();
}

std::size_t RingPool::wanted() const {
  return resting_
             ? 0
             : std::clamp<std::size_t>(kReadyBytes / std::max<std::size_t>(ring_.bytes(), 1), 1, kReadyMost);
}

Result<OwnFd> RingPool::socket_make(const link::RingGeometry& ring) const {
  SocketMemory memory;
  memory.ring = ring;
  memory.send_buffer = link::kSocketBuffer;
  return packet_socket_open(network_, memory);
}

void RingPool::makers_start() {
  const NoSignals no_signals;
  try {
    while (makers_.size() < kMakers) makers_.emplace_back([this] { make(); });
  } catch (const std::system_error& error) {
    log(LogLevel::warn, "no thread to make rings ahead: {}; opening an endpoint takes longer", error.what());
  }
}

Result<OwnFd> RingPool::take(const link::RingGeometry& ring) {
  {
    const std::lock_guard guard(mutex_);
    if (makers_.empty()) makers_start();
    taken_++;
    resting_ = false;
    if (!same(ring, ring_)) {
      std::ranges::move(ready_, std::back_inserter(outdated_));
      ready_.clear();
    }
    ring_ = ring;
    changed_.notify_all();
    if (!ready_.empty()) {
      OwnFd socket = std::move(ready_.back());
      ready_.pop_back();
      return socket;
    }
  }
  return socket_make(ring);
}

void RingPool::make() {
  std::unique_lock lock(mutex_);
  for (unsigned seen = taken_; !ends_;) {
    if (!outdated_.empty()) {
      OwnFd old = std::move(outdated_.back());
      outdated_.pop_back();
      lock.unlock();
      old.reset();
      lock.lock();
      continue;
    }
    if (ready_.size() + under_way_ >= wanted()) {
      const bool changed = changed_.wait_for(lock, kRest) == std::cv_status::no_timeout || taken_ != seen;
      seen = taken_;
      if (changed || ends_) continue;
      resting_ = true;
      std::vector<OwnFd> idle = std::exchange(ready_, {});
      lock.unlock();
      idle.clear();
      lock.lock();
      continue;
    }
    under_way_++;
    const link::RingGeometry ring = ring_;
    lock.unlock();
    auto socket = socket_make(ring);
    lock.lock();
    under_way_--;
    if (!socket)
      resting_ = true;  // the next take() says why
    else if (same(ring, ring_) && !resting_)
      ready_.push_back(std::move(*socket));
  }
}

}  // namespace omx::broker
