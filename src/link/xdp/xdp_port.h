// SPDX-License-Identifier: BSD-3-Clause
// The part of an interface that a process uses for AF_XDP: our program, one receive queue, and the memory
// for its frames. All endpoints of the process on that interface use it together.
//
// The kernel gives a queue to one set of memory, so the queue belongs to one process. A socket without
// traffic of its own holds the queue. It has the two rings by which memory goes to the kernel (fill) and
// comes back from sending (completion). The endpoints' sockets share that memory. However the process ends,
// the kernel closes the sockets and removes them from the program's table. It detaches the program when its
// last holder is gone.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/xdp/xdp_attach.h"
#include "link/xdp/xdp_facts.h"
#include "link/xdp/xdp_options.h"
#include "link/xdp/xdp_rings.h"
#include "netdev/interface_state.h"

namespace omx::link {

// Used in place of an MX code: nothing is wrong, but other processes have the queues. It never leaves this
// layer.
inline constexpr int kQueuesTaken = -1;

//              attached, or joined      rings and memory made      a queue is bound
//   join() ---> program ---------------> rings -------------------> bound, shared by all endpoints
//     |            |                       |                          |
//     |            +-----------------------+--------------------------+--> closed: the last endpoint closed,
//     |                                                                    or a step failed
//     +--> the bound port of this process, where there is one
//
class XdpPort {
 public:
  static constexpr std::uint32_t kChunkBytes = 4096;  // the most that every kernel takes
  static constexpr std::uint32_t kHeadroom = 256;     // left free by the kernel before a received frame
  static constexpr std::uint32_t kReceiveRoom = kChunkBytes - kHeadroom;

  // Returns the port of this process, or a new one.
  static Result<std::shared_ptr<XdpPort>> join(const XdpLinkOptions& options);
  ~XdpPort();

  const XdpFacts& facts() const { return facts_; }
  const XdpAttachment& attachment() const { return attachment_; }
  int socket() const { return fd_.get(); }
  std::uint32_t index() const { return index_; }
  std::byte* memory() const { return memory_.data(); }

  // Any thread may call the functions from here on.
  // Takes pieces of memory for frames to send; fewer when they are in use.
  std::size_t take(std::span<std::uint64_t> chunks);
  void give_back(std::span<const std::uint64_t> chunks);
  // Gives pieces back whose received frames were read. Returns true when the kernel must be woken to use
  // them.
  bool refill(std::span<const std::uint64_t> chunks);

 private:
  XdpPort() = default;
  Result<void> open(const XdpLinkOptions& options, const InterfaceState& state);
  int rings_make(const XdpLinkOptions& options);
  int bind(std::uint32_t queue, std::uint16_t flags);
  Result<void> queue_find(const XdpLinkOptions& options, const InterfaceState& state);
  void reap();

  ForkMark mark_;
  std::uint32_t index_ = 0;
  std::uint64_t network_ = 0;  // network namespace
  XdpFacts facts_;
  XdpAttachment attachment_;
  std::mutex mutex_;
  std::uint32_t receive_chunks_ = 0;
  std::vector<std::uint64_t> free_;  // pieces that neither the kernel nor an endpoint has
  // Members are destroyed in reverse order: the socket before memory and rings, and our hold of the program
  // last.
  XdpMapping memory_, fill_memory_, completion_memory_;
  xsk_ring_prod fill_{};
  xsk_ring_cons completion_{};
  OwnFd fd_;
};

}  // namespace omx::link
