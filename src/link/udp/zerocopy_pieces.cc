// SPDX-License-Identifier: BSD-3-Clause
#include "link/udp/zerocopy_pieces.h"

#include <unistd.h>

#include <cstring>

namespace omx::link {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

namespace {

struct Count {
  std::size_t pages = 0;    // of lasting pieces, and one for each run of passing ones
  std::size_t passing = 0;  // bytes
};

Count pieces_count(const iovec* pieces, std::size_t count, const PassingMemory& memory, std::size_t page) {
  Count sum;
  bool run = false;
  for (std::size_t i = 0; i < count; i++) {
    if (pieces[i].iov_len == 0) continue;
    const bool passing = memory.holds(pieces[i].iov_base);
    if (!passing) sum.pages += pages_of(pieces[i], page);
    if (passing && !run) sum.pages++;
    if (passing) sum.passing += pieces[i].iov_len;
    run = passing;
  }
  return sum;
}

}  // namespace

std::size_t zerocopy_lay_out(const iovec* pieces, std::size_t count, const PassingMemory& passing,
                             std::byte* page, iovec* out) {
  const std::size_t bytes = page_bytes();
  const Count sum = pieces_count(pieces, count, passing, bytes);
  const bool joins = sum.pages == kZerocopyPages + 1;  // the first data with the header before them
  if (sum.pages > kZerocopyPages + 1) return 0;
  std::size_t made = 0, used = 0;
  bool run = false, joined = false;
  const auto copy = [&](const void* from, std::size_t length) {
    std::memcpy(page + used, from, length);
    if (run)
      out[made - 1].iov_len += length;
    else
      out[made++] = {page + used, length};
    used += length;
    run = true;
  };
  for (std::size_t i = 0; i < count; i++) {
    iovec piece = pieces[i];
    if (piece.iov_len == 0) continue;
    if (passing.holds(piece.iov_base)) {
      copy(piece.iov_base, piece.iov_len);
      continue;
    }
    if (joins && run && !joined) {
      const std::size_t lead = bytes - reinterpret_cast<std::uintptr_t>(piece.iov_base) % bytes;
      if (lead >= piece.iov_len || sum.passing + lead > bytes) return 0;
      copy(piece.iov_base, lead);
      piece = {static_cast<std::byte*>(piece.iov_base) + lead, piece.iov_len - lead};
      joined = true;
    }
    out[made++] = piece;
    run = false;
  }
  return joins && !joined ? 0 : made;
}

}  // namespace omx::link
