// SPDX-License-Identifier: BSD-3-Clause
// The rings of AF_XDP sockets, which are mapped from a socket and then used by libxdp's inline functions.
// libxdp's own socket functions are not used, because a forked child would inherit their descriptors and
// mappings. A child that lives on would then keep the queue of the interface.
#pragma once

#include <linux/if_xdp.h>
#include <xdp/xsk.h>

#include <cstddef>
#include <cstdint>

namespace omx::link {

// Constants of Linux 6.6, which these headers may not have.
inline constexpr std::uint16_t kXdpUseSg = 1 << 4;
inline constexpr std::uint32_t kXdpContinued = 1 << 0;  // the frame goes on in the next descriptor

class XdpMapping {
 public:
  XdpMapping() = default;
  XdpMapping(const XdpMapping&) = delete;
  XdpMapping& operator=(const XdpMapping&) = delete;
  ~XdpMapping();

  // Makes and maps the ring that `option` (XDP_RX_RING ...) names. Returns 0 or errno.
  int make(int fd, int option, std::uint32_t entries, xsk_ring_prod& ring);
  int make(int fd, int option, std::uint32_t entries, xsk_ring_cons& ring);
  // Maps memory for frames. All of it is present at once, and none is visible in forked children. Returns 0
  // or errno.
  int memory(std::size_t bytes);
  std::byte* data() const { return base_; }
  void unmap();

 private:
  template <class Ring>
  int ring_make(int fd, int option, std::uint32_t entries, Ring& ring);
  int map(int fd, std::size_t bytes, std::uint64_t offset);

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace omx::link
