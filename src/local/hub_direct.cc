// SPDX-License-Identifier: BSD-3-Clause
// One copy: large messages straight from the memory of the process that sends them.
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/log.h"
#include "base/store_ahead.h"
#include "local/hub.h"
#include "local/memory_access.h"
#include "local/threshold.h"
#include "protocol/regions.h"

namespace omx::local {

namespace {

// Two copies: pieces that the caches hold; and all that is asked for at a time fits the ring.
constexpr std::uint32_t kFrameBytes = 16 * 1024 + 64;
constexpr std::uint8_t kPullFrames = 6;

// A region's memory, as a record.
struct RegionHead {
  std::uint16_t region = 0;  // its place
  std::uint8_t generation = 0, reserved = 0;
  std::uint16_t count = 0, reserved_too = 0;
  std::uint64_t life = 0, life_at = 0;
};

// No two regions of this process have the same, nor is it likely that other data look like it.
std::uint64_t new_life() {
  static std::atomic<std::uint64_t> next{clock_now() << 20 | 1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t bytes_of(std::span<const iovec> pieces) {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

// The first time only: with many peers the reason is the same.
void refusal_tell(int pid, int error) {
  static std::atomic_flag told;
  if (told.test_and_set(std::memory_order_relaxed)) return;
  log(LogLevel::warn,
      "large messages from process {} of this host take two copies, as its memory cannot be read ({}): {}",
      pid > 0 ? std::to_string(pid) : "?", std::strerror(error), memory_remedy(error));
}

}  // namespace

protocol::NearPath Hub::path(NicId nic, std::uint8_t endpoint) const {
  if (!stays(nic) || options_.self == Place{nic, endpoint}) return {};
  const std::uint32_t threshold =
      options_.rndv_threshold ? options_.rndv_threshold : threshold_of_this_machine();
  return {kFrameBytes, kPullFrames, threshold};
}

bool Hub::memory_readable(int pid, std::uint64_t proof_at) const {
  if (!options_.direct) return false;
  const int error = memory_try(pid, proof_at);
  if (error) refusal_tell(pid, error);
  return error == 0;
}

std::atomic<std::uint64_t>& Hub::life_of(std::uint16_t region) {
  const std::size_t level = region / kLivesAtOnce;
  while (lives_.size() <= level) lives_.push_back(std::make_unique<Lives>());
  return (*lives_[level])[region % kLivesAtOnce];
}

void Hub::send_region(const Place& to, std::uint16_t region, std::uint8_t generation,
                      std::span<const protocol::Segment> memory) {
  LaneOut* lane = lane_to(to);
  if (!lane) return;
  std::array<iovec, 257> pieces;
  std::array<iovec, 256> places;
  if (memory.size() > places.size()) return;
  std::atomic<std::uint64_t>& life = life_of(region);
  if (life.load(std::memory_order_relaxed) == 0) life.store(new_life(), std::memory_order_release);
  RegionHead head;
  head.region = region;
  head.generation = generation;
  head.count = static_cast<std::uint16_t>(memory.size());
  head.life = life.load(std::memory_order_relaxed);
  head.life_at = reinterpret_cast<std::uintptr_t>(&life);
  for (std::size_t i = 0; i < memory.size(); i++) places[i] = {memory[i].base, memory[i].length};
  pieces[0] = {&head, sizeof head};
  pieces[1] = {places.data(), memory.size() * sizeof(iovec)};
  put(*lane, Kind::regions, {pieces.data(), 2}, 0);
}

void Hub::region_ended(std::uint16_t region) {
  const std::size_t level = region / kLivesAtOnce;
  if (level >= lives_.size()) return;
  // The application may write to the memory as soon as its send is complete, with plain stores. A reader that
  // finds any of them must not find the life.
  store_ahead((*lives_[level])[region % kLivesAtOnce], 0);
}

std::unique_ptr<Hub::Region>* Hub::region_find(LaneIn& lane, std::uint8_t region, std::uint8_t generation) {
  for (std::size_t i = region; i < lane.regions.size(); i += protocol::kRegionNumbers) {
    if (lane.regions[i] && lane.regions[i]->generation == generation) return &lane.regions[i];
  }
  return nullptr;
}

void Hub::region_learn(LaneIn& lane, std::span<const std::byte> bytes) {
  RegionHead head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (bytes.size() != sizeof head + head.count * sizeof(iovec)) return;
  if (head.region >= protocol::kRegionsMost) return;
  if (lane.regions.size() <= head.region) lane.regions.resize(head.region + std::size_t{1});
  auto& region = lane.regions[head.region];
  // Another of that number and generation is long over.
  auto* const former = region_find(lane, static_cast<std::uint8_t>(head.region), head.generation);
  if (former && former != &region) former->reset();
  if (!region) region = std::make_unique<Region>();
  region->generation = head.generation;
  region->life = head.life;
  region->life_at = head.life_at;
  region->memory.resize(head.count);
  if (head.count > 0)
    std::memcpy(region->memory.data(), bytes.data() + sizeof head, head.count * sizeof(iovec));
}

namespace {

constexpr std::size_t kPieces = 256;         // of one call
constexpr std::uint64_t kAtOnce = 1U << 30;  // one call moves less than 2 GiB

iovec piece_of(const protocol::Segment& s) {
  return {s.base, s.length};
}
iovec piece_of(const iovec& v) {
  return v;
}

// What `most` bytes from `from` on are in the list, as far as they fit a call; how many pieces.
template <class List>
std::size_t cut(const List& list, iovec* out, std::uint64_t from, std::uint64_t most) {
  std::size_t count = 0;
  for (const auto& part : list) {
    const iovec piece = piece_of(part);
    if (from >= piece.iov_len) {
      from -= piece.iov_len;
      continue;
    }
    const std::uint64_t bytes = std::min(piece.iov_len - from, most);
    if (bytes == 0 || count == kPieces) break;
    out[count++] = {static_cast<std::byte*>(piece.iov_base) + from, bytes};
    most -= bytes;
    from = 0;
  }
  return count;
}

}  // namespace

bool Hub::read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
               std::uint64_t offset, std::span<const protocol::Segment> to, std::uint64_t length) {
  LaneIn* lane = lane_from({nic, endpoint});
  if (!lane || !lane->readable) return false;
  const auto* const found = region_find(*lane, region, generation);
  if (!found) return false;
  const Region& memory = **found;
  // The sender ends a region before its memory is used for something else. So what was read is right if the
  // region lived afterwards: that is asked behind the data, where all fit one call. The kernel copies the
  // pieces in order, and between two it gives back the pages of the first, with atomic operations that are
  // barriers.
  std::uint64_t life = 0;
  const iovec life_here{&life, sizeof life};
  const iovec life_there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory.life_at)), sizeof life};
  bool asked = false;
  std::uint64_t done = 0;
  while (done < length) {
    iovec here[kPieces + 1], there[kPieces + 1];
    const std::uint64_t most = std::min(length - done, kAtOnce);
    // The two lists need not be cut alike; the kernel takes both.
    std::size_t n = cut(to, here, done, most), m = cut(memory.memory, there, offset + done, most);
    const bool last = done + most == length && bytes_of({here, n}) == most && bytes_of({there, m}) == most;
    if (last) {
      here[n++] = life_here;
      there[m++] = life_there;
    }
    const ssize_t got = ::process_vm_readv(lane->pid, here, n, there, m, 0);
    if (got <= 0) return false;
    asked = last && static_cast<std::uint64_t>(got) == most + sizeof life;
    done += std::min<std::uint64_t>(static_cast<std::uint64_t>(got), most);
  }
  if (!asked && ::process_vm_readv(lane->pid, &life_here, 1, &life_there, 1, 0) != sizeof life) return false;
  if (life != memory.life) return false;
  counters_.direct_reads++;
  counters_.direct_bytes += length;
  return true;
}

bool Hub::unread(NicId nic, std::uint8_t endpoint) const {
  for (const auto& lane : out_)
    if (lane->to == Place{nic, endpoint}) return !lane->waiting.empty() || lane->ring.unread();
  return false;
}

}  // namespace omx::local
