// SPDX-License-Identifier: BSD-3-Clause
#include "local/incoming.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.h"
#include "local/credentials.h"
#include "local/memory_access.h"
#include "wire/codec.h"

namespace omx::local {

namespace {

// Says why a process's memory cannot be read, the first time only: with many peers the reason is the same.
void two_copies_tell(int pid, int error) {
  static std::atomic_flag told;
  if (told.test_and_set(std::memory_order_relaxed)) return;
  log(LogLevel::warn,
      "large messages from process {} of this host take two copies, as its memory cannot be read ({}): {}",
      pid > 0 ? std::to_string(pid) : "?", std::strerror(error), memory_remedy(error));
}

}  // namespace

Incoming::Path* Incoming::from(const Place& peer) const {
  for (const auto& path : paths_)
    if (path->from == peer && !path->gone) return path.get();
  return nullptr;
}

const PeerRegions* Incoming::readable(const Place& peer) const {
  const Path* const path = from(peer);
  return path && path->readable ? &path->regions : nullptr;
}

bool Incoming::memory_readable(int pid, std::uint64_t proof_at) const {
  if (!options_.direct) return false;
  const int error = memory_try(pid, proof_at);
  if (error) two_copies_tell(pid, error);
  return error == 0;
}

bool Incoming::fill(Path& path, const OwnFd& connection, const Hello& hello, OwnFd memory) {
  ucred credentials{};
  if (!options_.stays(hello.nic) || !trusted(connection, credentials)) return false;
  errno = 0;
  path.memory = SharedMemory::adopt(std::move(memory), ring_memory(kRingBytes));
  if (!path.memory.mapped()) {
    if (errno == ENOMEM) refusals_.no_room(errno);
    return false;
  }
  path.memory.descriptor_close();
  path.ring = RingReader(path.memory.data(), kRingBytes);
  path.from = {hello.nic, static_cast<std::uint8_t>(hello.endpoint)};
  path.regions = PeerRegions(credentials.pid);
  path.readable = memory_readable(credentials.pid, hello.proof_at);
  return true;
}

void Incoming::adopt(OwnFd connection, const Hello& hello, OwnFd memory) {
  auto path = std::make_unique<Path>();
  if (!fill(*path, connection, hello, std::move(memory))) return;
  path->connection = std::move(connection);
  // A new incarnation of the peer is there, so the old one is gone, whatever its connection says.
  if (Path* old = from(path->from)) old->gone = true;
  paths_.push_back(std::move(path));
}

std::size_t Incoming::receive_from(Path& path, Arrivals& arrivals, std::size_t budget) {
  std::size_t frames = 0;
  // Bad records count, too, because a ring full of garbage has no end.
  for (std::size_t records = 0; records < budget; records++) {
    const Record record = path.ring.front();
    if (record.kind == Kind::none) {
      path.ring.publish_rest();
      break;
    }
    if (record.kind == Kind::regions) path.regions.learn(record.bytes);
    // A peer may send in its own name only.
    if (record.kind == Kind::frame && record.bytes.size() >= wire::kMinFrame &&
        sent_by(record.bytes, wire::FrameSender{path.from.nic, path.from.endpoint})) {
      frames++;
      arrivals.on_local_frame(record.bytes);
    }
    path.ring.pop();
  }
  path.ring.publish();
  return frames;
}

std::size_t Incoming::receive(Arrivals& arrivals, std::size_t budget) {
  std::size_t frames = 0;
  for (const auto& path : paths_) frames += receive_from(*path, arrivals, budget);
  return frames;
}

bool Incoming::owns(int fd) const {
  return std::any_of(paths_.begin(), paths_.end(),
                     [fd](const auto& path) { return path->connection.get() == fd; });
}

void Incoming::gone(int fd) {
  for (const auto& path : paths_)
    if (path->connection.get() == fd) path->gone = true;
}

void Incoming::end_gone(Arrivals& arrivals) {
  for (std::size_t i = 0; i < paths_.size();) {
    Path& path = *paths_[i];
    if (path.ring.broken()) path.gone = true;
    if (path.gone) path.ends = std::min(path.ends, path.ring.position() + kRingBytes);
    const bool read = path.ring.broken() || !path.ring.pending() || path.ring.position() >= path.ends;
    if (!path.gone || !read) {
      i++;
      continue;
    }
    const Place peer = path.from;
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!from(peer)) arrivals.on_local_gone(peer);
  }
}

bool Incoming::fall_asleep() {
  for (const auto& path : paths_) {
    if (path->ring.fall_asleep()) continue;
    wake_up();
    return false;
  }
  asleep_ = true;
  return true;
}

void Incoming::hear_for_sleeper(Arrivals& arrivals) {
  if (!asleep_) return;
  for (const auto& path : paths_) path->ring.arm_again();
  receive(arrivals, kRingBytes);
}

void Incoming::wake_up() {
  asleep_ = false;
  for (const auto& path : paths_) path->ring.wake_up();
}

}  // namespace omx::local
