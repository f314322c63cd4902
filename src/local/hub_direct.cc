// SPDX-License-Identifier: BSD-3-Clause
// One copy: large messages straight from the memory of the process that sends them.
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "local/hub.h"
#include "local/memory_access.h"
#include "local/threshold.h"

namespace omx::local {

namespace {

// Two copies: pieces that the caches hold; and all that is asked for at a time fits the ring.
constexpr std::uint32_t kFrameBytes = 16 * 1024 + 64;
constexpr std::uint8_t kPullFrames = 6;

// A region's memory, as a record.
struct RegionHead {
  std::uint8_t region = 0, generation = 0;
  std::uint16_t count = 0;
  std::uint32_t reserved = 0;
};

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

void Hub::send_region(const Place& to, std::uint8_t region, std::uint8_t generation,
                      std::span<const protocol::Segment> memory) {
  LaneOut* lane = lane_to(to);
  if (!lane) return;
  std::array<iovec, 257> pieces;
  std::array<iovec, 256> places;
  RegionHead head{region, generation, static_cast<std::uint16_t>(memory.size()), 0};
  if (memory.size() > places.size()) return;
  for (std::size_t i = 0; i < memory.size(); i++) places[i] = {memory[i].base, memory[i].length};
  pieces[0] = {&head, sizeof head};
  pieces[1] = {places.data(), memory.size() * sizeof(iovec)};
  put(*lane, Kind::regions, {pieces.data(), 2}, 0);
}

void Hub::region_learn(LaneIn& lane, std::span<const std::byte> bytes) {
  RegionHead head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (bytes.size() != sizeof head + head.count * sizeof(iovec)) return;
  auto& region = lane.regions[head.region];
  if (!region) region = std::make_unique<Region>();
  region->generation = head.generation;
  region->memory.resize(head.count);
  if (head.count > 0)
    std::memcpy(region->memory.data(), bytes.data() + sizeof head, head.count * sizeof(iovec));
}

bool Hub::read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
               std::uint64_t offset, std::span<const protocol::Segment> to, std::uint64_t length) {
  LaneIn* lane = lane_from({nic, endpoint});
  if (!lane || !lane->readable || !lane->regions[region]) return false;
  const Region& memory = *lane->regions[region];
  if (memory.generation != generation) return false;
  // The two lists need not be cut alike; the kernel takes both.
  constexpr std::size_t kPieces = 256;
  constexpr std::uint64_t kAtOnce = 1U << 30;  // one call moves less than 2 GiB
  std::uint64_t done = 0;
  while (done < length) {
    iovec here[kPieces], there[kPieces];
    const auto cut = [](auto& list, iovec* out, std::uint64_t from, std::uint64_t most, auto base,
                        auto size) {
      std::size_t count = 0;
      for (const auto& piece : list) {
        const std::uint64_t bytes = size(piece);
        if (from >= bytes) {
          from -= bytes;
          continue;
        }
        const std::uint64_t part = std::min(bytes - from, most);
        if (part == 0 || count == kPieces) break;
        out[count++] = {base(piece) + from, part};
        most -= part;
        from = 0;
      }
      return count;
    };
    const std::uint64_t most = std::min(length - done, kAtOnce);
    const std::size_t n = cut(
        to, here, done, most, [](const protocol::Segment& s) { return s.base; },
        [](const protocol::Segment& s) { return std::uint64_t{s.length}; });
    const std::size_t m = cut(
        memory.memory, there, offset + done, most,
        [](const iovec& v) { return static_cast<std::byte*>(v.iov_base); },
        [](const iovec& v) { return std::uint64_t{v.iov_len}; });
    const ssize_t got = ::process_vm_readv(lane->pid, here, n, there, m, 0);
    if (got <= 0) return false;
    done += static_cast<std::uint64_t>(got);
  }
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
