// SPDX-License-Identifier: BSD-3-Clause
// A process's place on an interface: our program, one receive queue, and the memory for its frames. All
// endpoints of the process on that interface share it.
//
// The kernel gives a queue to one set of memory, so it belongs to one process. A socket without traffic of
// its own holds it, with the two rings by which memory goes to the kernel (fill) and comes back from
// sending (completion); the endpoints' sockets join that. Whatever way the process ends, the kernel closes
// the sockets, takes them out of the program's table, and takes the program off with its last holder.
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

// Instead of an MX code: nothing is wrong, but other processes have the queues. Never leaves this layer.
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
  static constexpr std::uint32_t kHeadroom = 256;     // that it leaves free before a received frame
  static constexpr std::uint32_t kReceiveRoom = kChunkBytes - kHeadroom;

  // That of this process, or a new one.
  static Result<std::shared_ptr<XdpPort>> join(const XdpLinkOptions& options);
  ~XdpPort();

  const XdpFacts& facts() const { return facts_; }
  const XdpAttachment& attachment() const { return attachment_; }
  int socket() const { return fd_.get(); }
  std::uint32_t index() const { return index_; }
  std::byte* memory() const { return memory_.data(); }

  // Any thread may call what follows.
  // Pieces of memory for frames to send; fewer when they are in use.
  std::size_t take(std::span<std::uint64_t> chunks);
  void give_back(std::span<const std::uint64_t> chunks);
  // Pieces whose received frames have been read. The kernel has to be woken for it: true.
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
  std::uint64_t network_ = 0;  // namespace
  XdpFacts facts_;
  XdpAttachment attachment_;
  std::mutex mutex_;
  std::uint32_t receive_chunks_ = 0;
  std::vector<std::uint64_t> free_;  // not with the kernel, nor with an endpoint
  // The socket goes before memory and rings do, and our hold of the program last.
  XdpMapping memory_, fill_memory_, completion_memory_;
  xsk_ring_prod fill_{};
  xsk_ring_cons completion_{};
  OwnFd fd_;
};

}  // namespace omx::link
