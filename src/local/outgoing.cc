// SPDX-License-Identifier: BSD-3-Clause
#include "local/outgoing.h"

#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "base/no_cancel.h"
#include "base/shortage.h"
#include "local/credentials.h"
#include "local/hello.h"
#include "local/memory_access.h"

namespace omx::local {

namespace {

constexpr std::size_t kWaitingMost = 64U << 20;  // bytes; the engine's windows keep far below

}  // namespace

Outgoing::Path* Outgoing::known(const Place& peer) const {
  for (const auto& path : paths_)
    if (path->to == peer) return path.get();
  return nullptr;
}

Outgoing::Path* Outgoing::find(const Place& peer) {
  if (Path* const path = known(peer)) return last_ = path;
  return open(peer);
}

Outgoing::Path* Outgoing::open(const Place& peer) {
  const NoCancel no_cancel;
  OwnFd connection = options_.connect(peer);
  if (!connection.open()) return nullptr;
  ucred credentials{};
  if (!trusted(connection, credentials)) {
    refusals_.other_user(peer, credentials);
    errno = EACCES;
    return nullptr;
  }
  auto path = std::make_unique<Path>();
  path->to = peer;
  path->memory = SharedMemory::create(ring_memory(kRingBytes));
  if (!path->memory.mapped()) {
    if (errno != EMFILE && errno != ENFILE) errno = ENOMEM;
    return nullptr;
  }
  path->ring = RingWriter(path->memory.data(), kRingBytes);
  Hello hello;
  hello.nic = options_.self.nic;
  hello.endpoint = options_.self.endpoint;
  hello.proof_at = proof_address();
  if (!descriptors_.add(connection.get()) || !hello_send(connection.get(), hello, path->memory.descriptor()))
    return nullptr;
  path->memory.descriptor_close();
  path->connection = std::move(connection);
  paths_.push_back(std::move(path));
  if (!unreached_.empty()) unreached_forget(peer);
  return last_ = paths_.back().get();
}

void Outgoing::unreached_add(const Place& peer, int error) {
  if (!is_shortage(error)) return;
  if (std::find(unreached_.begin(), unreached_.end(), peer) == unreached_.end()) unreached_.push_back(peer);
  refusals_.no_connection(peer, error);
}

void Outgoing::unreached_forget(const Place& peer) {
  unreached_.erase(std::remove(unreached_.begin(), unreached_.end(), peer), unreached_.end());
}

void Outgoing::put(Path& path, Kind kind, std::span<const iovec> pieces, std::size_t least) {
  path.touched = touched_ = true;
  if (path.waiting.empty() && path.ring.put(kind, pieces, least)) return;
  std::vector<std::byte> bytes;
  for (const iovec& piece : pieces) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), from, from + piece.iov_len);
  }
  if (bytes.size() < least) bytes.resize(least);
  if (path.waiting_bytes + bytes.size() > kWaitingMost) {
    counters_.frames_dropped++;
    return;
  }
  path.waiting_bytes += bytes.size();
  path.waiting.push_back({kind, std::move(bytes)});
  counters_.frames_delayed++;
  backlog_ = true;
}

// Writes the records that wait for room. Returns false while some still wait.
bool Outgoing::drain(Path& path) {
  while (!path.waiting.empty()) {
    Path::Waiting& first = path.waiting.front();
    const iovec piece{first.bytes.data(), first.bytes.size()};
    if (!path.ring.put(first.kind, {&piece, 1})) return false;
    assert(path.waiting_bytes >= first.bytes.size());
    path.waiting_bytes -= first.bytes.size();
    path.waiting.pop_front();
    path.touched = touched_ = true;
  }
  return true;
}

void Outgoing::drain() {
  if (!backlog_) return;
  backlog_ = false;
  stuck_ = true;
  for (const auto& path : paths_) {
    const std::size_t waiting = path->waiting.size();
    if (!drain(*path)) backlog_ = true;
    if (path->waiting.size() < waiting) stuck_ = false;
  }
  flush();
}

void Outgoing::flush() {
  if (!touched_) return;
  touched_ = false;
  for (const auto& path : paths_) {
    if (!path->touched) continue;
    path->touched = false;
    if (path->ring.must_wake()) wake(*path);
  }
}

void Outgoing::wake(Path& path) {
  const NoCancel no_cancel;
  const char byte = 0;
  [[maybe_unused]] const ssize_t sent = ::send(path.connection.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  counters_.notifies++;
}

bool Outgoing::unread(const Place& peer) const {
  const Path* const path = known(peer);
  return path && (!path->waiting.empty() || path->ring.unread());
}

void Outgoing::wake_reader(const Place& peer) {
  if (Path* const path = known(peer)) wake(*path);
}

bool Outgoing::awake(const Place& peer) const {
  const Path* const path = known(peer);
  return path && !path->ring.reader_sleeps();
}

bool Outgoing::owns(int fd) const {
  return std::any_of(paths_.begin(), paths_.end(),
                     [fd](const auto& path) { return path->connection.get() == fd; });
}

void Outgoing::end(int fd) {
  last_ = nullptr;
  std::erase_if(paths_, [fd](const auto& path) { return path->connection.get() == fd; });
}

}  // namespace omx::local
