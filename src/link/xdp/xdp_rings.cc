// SPDX-License-Identifier: BSD-3-Clause
#include "link/xdp/xdp_rings.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace omx::link {

XdpMapping::~XdpMapping() {
  unmap();
}

void XdpMapping::unmap() {
  if (base_) ::munmap(base_, bytes_);
  base_ = nullptr;
}

int XdpMapping::map(int fd, std::size_t bytes, std::uint64_t offset) {
  const int flags = MAP_SHARED | MAP_POPULATE | (fd < 0 ? MAP_ANONYMOUS : 0);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return errno;
  base_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  // A mapping in a forked child would keep the socket, and with it the queue, after we have closed it.
  ::madvise(memory, bytes, MADV_DONTFORK);
  return 0;
}

int XdpMapping::memory(std::size_t bytes) {
  return map(-1, bytes, 0);
}

template <class Ring>
int XdpMapping::ring_make(int fd, int option, std::uint32_t entries, Ring& ring) {
  if (::setsockopt(fd, SOL_XDP, option, &entries, sizeof entries) < 0) return errno;
  xdp_mmap_offsets all{};
  socklen_t length = sizeof all;
  if (::getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &all, &length) < 0) return errno;
  if (length != sizeof all) return EPROTO;  // before Linux 5.4
  struct Kind {
    xdp_ring_offset offsets;
    std::uint64_t page;
    std::size_t entry;
  };
  const Kind kind = option == XDP_RX_RING   ? Kind{all.rx, XDP_PGOFF_RX_RING, sizeof(xdp_desc)}
                    : option == XDP_TX_RING ? Kind{all.tx, XDP_PGOFF_TX_RING, sizeof(xdp_desc)}
                    : option == XDP_UMEM_FILL_RING
                        ? Kind{all.fr, XDP_UMEM_PGOFF_FILL_RING, sizeof(std::uint64_t)}
                        : Kind{all.cr, XDP_UMEM_PGOFF_COMPLETION_RING, sizeof(std::uint64_t)};
  if (const int error = map(fd, kind.offsets.desc + entries * kind.entry, kind.page)) return error;
  ring = {};
  ring.mask = entries - 1;
  ring.size = entries;
  ring.producer = reinterpret_cast<std::uint32_t*>(base_ + kind.offsets.producer);
  ring.consumer = reinterpret_cast<std::uint32_t*>(base_ + kind.offsets.consumer);
  ring.flags = reinterpret_cast<std::uint32_t*>(base_ + kind.offsets.flags);
  ring.ring = base_ + kind.offsets.desc;
  ring.cached_prod = *ring.producer;
  ring.cached_cons = *ring.consumer;
  return 0;
}

int XdpMapping::make(int fd, int option, std::uint32_t entries, xsk_ring_prod& ring) {
  const int error = ring_make(fd, option, entries, ring);
  if (!error) ring.cached_cons += entries;  // as libxdp's functions expect it
  return error;
}

int XdpMapping::make(int fd, int option, std::uint32_t entries, xsk_ring_cons& ring) {
  return ring_make(fd, option, entries, ring);
}

}  // namespace omx::link
