// SPDX-License-Identifier: BSD-3-Clause
#include "local/peer_regions.h"

#include <algorithm>
#include <cstring>

#include "local/region_record.h"
#include "protocol/state/regions.h"

namespace omx::local {

namespace {

constexpr std::size_t kPieces = 256;         // of one call
constexpr std::uint64_t kAtOnce = 1U << 30;  // one call moves less than 2 GiB

iovec piece_of(const protocol::Segment& s) {
  return {s.base, s.length};
}
iovec piece_of(const iovec& v) {
  return v;
}

// Fills in the pieces of `most` bytes from `from` on in the list, as far as they fit a call. Returns how many
// pieces there are.
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

std::uint64_t bytes_of(std::span<const iovec> pieces) {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

std::ptrdiff_t PeerRegions::find(std::uint8_t region, std::uint8_t generation) const {
  for (std::size_t i = region; i < regions_.size(); i += protocol::kRegionNumbers)
    if (regions_[i] && regions_[i]->generation == generation) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

void PeerRegions::learn(std::span<const std::byte> record) {
  RegionHead head;
  if (record.size() < sizeof head) return;
  std::memcpy(&head, record.data(), sizeof head);
  if (record.size() != sizeof head + head.count * sizeof(iovec)) return;
  if (head.region >= protocol::kRegionsMost) return;
  if (regions_.size() <= head.region) regions_.resize(head.region + std::size_t{1});
  auto& region = regions_[head.region];
  // Another region of that number and generation is long over.
  const std::ptrdiff_t former = find(static_cast<std::uint8_t>(head.region), head.generation);
  if (former >= 0 && former != head.region) regions_[static_cast<std::size_t>(former)].reset();
  if (!region) region = std::make_unique<Region>();
  region->generation = head.generation;
  region->life = head.life;
  region->life_at = head.life_at;
  region->memory.resize(head.count);
  if (head.count > 0)
    std::memcpy(region->memory.data(), record.data() + sizeof head, head.count * sizeof(iovec));
}

bool PeerRegions::read(std::uint8_t region, std::uint8_t generation, std::uint64_t offset,
                       std::span<const protocol::Segment> to, std::uint64_t length) const {
  const std::ptrdiff_t place = find(region, generation);
  if (place < 0) return false;
  const Region& memory = *regions_[static_cast<std::size_t>(place)];
  // The sender ends a region before its memory is used for something else. So what was read is right if the
  // region lived afterwards. The life is read behind the data, by the same call where all fit one. The kernel
  // copies the pieces in order. Between two it gives back the pages of the first, with atomic operations that
  // are barriers.
  std::uint64_t life = 0;
  const iovec life_here{&life, sizeof life};
  const iovec life_there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory.life_at)), sizeof life};
  bool asked = false;
  std::uint64_t done = 0;
  while (done < length) {
    iovec here[kPieces + 1], there[kPieces + 1];
    const std::uint64_t most = std::min(length - done, kAtOnce);
    // The two lists need not be cut alike, because the kernel takes both.
    std::size_t n = cut(to, here, done, most), m = cut(memory.memory, there, offset + done, most);
    const bool last = done + most == length && bytes_of({here, n}) == most && bytes_of({there, m}) == most;
    if (last) {
      here[n++] = life_here;
      there[m++] = life_there;
    }
    const ssize_t got = ::process_vm_readv(pid_, here, n, there, m, 0);
    if (got <= 0) return false;
    asked = last && static_cast<std::uint64_t>(got) == most + sizeof life;
    done += std::min<std::uint64_t>(static_cast<std::uint64_t>(got), most);
  }
  if (!asked && ::process_vm_readv(pid_, &life_here, 1, &life_there, 1, 0) != sizeof life) return false;
  return life == memory.life;
}

}  // namespace omx::local
