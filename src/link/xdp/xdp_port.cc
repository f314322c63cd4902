// SPDX-License-Identifier: BSD-3-Clause
#include "link/xdp/xdp_port.h"

#include <fmt/format.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/fences.h"
#include "netdev/open_failure.h"
#include "wire/sizes.h"

namespace omx::link {

namespace {

// Pieces of memory for frames to send, for all endpoints together.
constexpr std::uint32_t kSendChunks = 1024;
// Even when the received frames of this many idle endpoints wait, other endpoints can receive.
constexpr std::uint32_t kEndpointsServed = 4;
constexpr std::uint32_t kFillMost = 8192;

constexpr int kLookMs = 5;
constexpr int kLooksAlone = 200;
constexpr int kLooksBesideOthers = 20;

std::mutex g_ports_mutex;
std::vector<std::weak_ptr<XdpPort>> g_ports;

// After a wait for queues found none, the endpoints that a process opens next do not wait again. They do
// wait if the other processes that had the queues have gone meanwhile.
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kTakenFor{10};
struct Taken {
  std::uint32_t index = 0;
  std::uint64_t network = 0;
  bool by_others = false;  // another process had attached the program
  Clock::time_point until;
};
Taken g_taken;

// Returns a number of the network namespace, because interfaces of two namespaces may have the same index.
std::uint64_t network_namespace() {
  struct stat status {};
  return ::stat("/proc/thread-self/ns/net", &status) == 0 ? status.st_ino : 0;
}

// ENOTSUPP, which only the kernel knows: the driver cannot do what was asked.
constexpr int kNotSupported = 524;

bool cannot(int error) {
  return error == EOPNOTSUPP || error == kNotSupported || error == EINVAL;
}

Failure bind_failure(const XdpLinkOptions& options, std::uint32_t queue, bool first, int error) {
  const std::string& name = options.packets.interface;
  if (options.mode == XdpMode::zerocopy && cannot(error)) {
    return {kFailure,
            fmt::format("the driver of {} does not share memory with programs (AF_XDP zero-copy): {}; "
                        "set OMX_XDP_MODE to auto or copy",
                        name, std::strerror(error == kNotSupported ? EOPNOTSUPP : error))};
  }
  if (error == EINVAL && !first)
    return {kFailure,
            fmt::format("{} has no receive queue {}: set OMX_XDP_QUEUE to auto or to a lower number", name,
                        queue)};
  return open_failure(fmt::format("an AF_XDP socket on queue {} of {}", queue, name), error);
}

}  // namespace

Result<std::shared_ptr<XdpPort>> XdpPort::join(const XdpLinkOptions& options) {
  const OwnFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  InterfaceState state;
  if (const int error = interface_state_by_name(any.get(), options.packets.interface, state))
    return tl::unexpected(state_failure(options.packets.interface, error));
  const std::uint64_t network = network_namespace();
  const std::lock_guard guard(g_ports_mutex);
  std::erase_if(g_ports, [](const std::weak_ptr<XdpPort>& port) { return port.expired(); });
  for (const std::weak_ptr<XdpPort>& known : g_ports) {
    auto port = known.lock();
    if (port && !port->mark_.forked() && port->index_ == state.index && port->network_ == network)
      return port;
  }
  std::shared_ptr<XdpPort> port(new XdpPort);
  port->network_ = network;
  if (auto r = port->open(options, state); !r) return tl::unexpected(r.error());
  g_ports.push_back(port);
  return port;
}

XdpPort::~XdpPort() = default;

Result<void> XdpPort::open(const XdpLinkOptions& options, const InterfaceState& state) {
  const std::string& name = options.packets.interface;
  assert(!fd_.open());
  index_ = state.index;
  fd_ = OwnFd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!fd_.open()) {
    if (errno == EAFNOSUPPORT)
      return fail(kFailure, "this kernel has no AF_XDP: it needs CONFIG_XDP_SOCKETS; set OMX_LINK=ethernet");
    if (errno == EPERM)
      return fail(kNoPermission,
                  fmt::format("opening an AF_XDP socket on {} needs CAP_NET_RAW: run as root, or "
                              "set OMX_LINK=auto",
                              name));
    return tl::unexpected(open_failure("an AF_XDP socket on " + name, errno));
  }
  auto taken = XdpAttachment::take(name, index_, options.mode);
  if (!taken) return tl::unexpected(taken.error());
  attachment_ = std::move(*taken);
  if (const int error = rings_make(options)) {
    return fail(
        kNoResources,
        fmt::format("{}: no memory for {} frames of AF_XDP: {}; lower OMX_RING_FRAMES, or raise the limit "
                    "of locked memory (ulimit -l)",
                    name, receive_chunks_ + kSendChunks, std::strerror(error)));
  }
  return queue_find(options, state);
}

int XdpPort::rings_make(const XdpLinkOptions& options) {
  receive_chunks_ = std::min(std::bit_ceil(options.packets.ring_frames) * kEndpointsServed, kFillMost);
  const std::uint32_t chunks = receive_chunks_ + kSendChunks;
  if (const int error = memory_.memory(std::size_t{chunks} * kChunkBytes)) return error;
  xdp_umem_reg umem{};
  umem.addr = reinterpret_cast<std::uintptr_t>(memory_.data());
  umem.len = std::uint64_t{chunks} * kChunkBytes;
  umem.chunk_size = kChunkBytes;
  if (::setsockopt(fd_.get(), SOL_XDP, XDP_UMEM_REG, &umem, sizeof umem) < 0) return errno;
  int error = fill_memory_.make(fd_.get(), XDP_UMEM_FILL_RING, receive_chunks_, fill_);
  if (!error) error = completion_memory_.make(fd_.get(), XDP_UMEM_COMPLETION_RING, kSendChunks, completion_);
  const std::uint32_t one = 1;  // a socket must have a ring; nothing comes here
  if (!error && ::setsockopt(fd_.get(), SOL_XDP, XDP_RX_RING, &one, sizeof one) < 0) error = errno;
  if (error) return error;

  free_.reserve(chunks);
  for (std::uint32_t i = 0; i < kSendChunks; i++) free_.push_back(std::uint64_t{i} * kChunkBytes);
  std::vector<std::uint64_t> received;
  for (std::uint32_t i = kSendChunks; i < chunks; i++) received.push_back(std::uint64_t{i} * kChunkBytes);
  refill(received);
  return 0;
}

int XdpPort::bind(std::uint32_t queue, std::uint16_t flags) {
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_ifindex = index_;
  address.sxdp_queue_id = queue;
  address.sxdp_flags = flags;
  return ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ? errno : 0;
}

Result<void> XdpPort::queue_find(const XdpLinkOptions& options, const InterfaceState& state) {
  std::uint16_t flags = XDP_USE_NEED_WAKEUP;
  if (attachment_.generic() || options.mode == XdpMode::copy) flags |= XDP_COPY;
  if (options.mode == XdpMode::zerocopy) flags |= XDP_ZEROCOPY;
  // The flag is set only where it is needed, because a driver may have zero-copy only for frames in one
  // piece.
  if (options.multi_buffer && state.mtu + wire::kEthernetHeader > kReceiveRoom) flags |= kXdpUseSg;

  const bool any = options.queue == kAnyQueue;
  const std::uint32_t from = any ? 0 : static_cast<std::uint32_t>(options.queue);
  // The kernel frees a queue some time after its process has ended.
  const bool others = attachment_.joined();
  int looks = others ? kLooksBesideOthers : kLooksAlone;
  if (g_taken.index == index_ && g_taken.network == network_ && g_taken.by_others == others &&
      Clock::now() < g_taken.until)
    looks = 1;
  bool first = true;
  std::uint32_t queue = from;
  for (;; first = false) {
    int error = bind(queue, flags);
    if (cannot(error) && (flags & kXdpUseSg) && first) {
      flags &= static_cast<std::uint16_t>(~kXdpUseSg);
      error = bind(queue, flags);
    }
    if (error == 0) break;
    const bool beyond = error == EINVAL && any && !first;
    if (error != EBUSY && !beyond) return tl::unexpected(bind_failure(options, queue, any && first, error));
    if (any && !beyond && queue + 1 < OMX_XDP_QUEUES) {
      queue++;
      continue;
    }
    if (--looks > 0) {
      ::poll(nullptr, 0, kLookMs);
      queue = from;
      continue;
    }
    g_taken = {index_, network_, others, Clock::now() + kTakenFor};
    return fail(kQueuesTaken, any ? "other processes have all of its receive queues"
                                  : fmt::format("another process has its receive queue {}", queue));
  }
  xdp_options in_use{};
  socklen_t length = sizeof in_use;
  facts_.zero_copy = ::getsockopt(fd_.get(), SOL_XDP, XDP_OPTIONS, &in_use, &length) == 0 &&
                     (in_use.flags & XDP_OPTIONS_ZEROCOPY);
  facts_.generic = attachment_.generic();
  facts_.why_generic = attachment_.why_generic();
  facts_.queue = queue;
  facts_.multi_buffer = flags & kXdpUseSg;
  facts_.largest_frame = facts_.multi_buffer ? 65535U + wire::kEthernetHeader : kReceiveRoom;
  return {};
}

void XdpPort::reap() {
  std::uint32_t first = 0;
  const std::uint32_t count = ::xsk_ring_cons__peek(&completion_, kSendChunks, &first);
  for (std::uint32_t i = 0; i < count; i++) {
    const std::uint64_t address = *::xsk_ring_cons__comp_addr(&completion_, first + i);
    free_.push_back(address & ~std::uint64_t{kChunkBytes - 1});
  }
  if (count > 0) ::xsk_ring_cons__release(&completion_, count);
}

std::size_t XdpPort::take(std::span<std::uint64_t> chunks) {
  const std::lock_guard guard(mutex_);
  if (free_.size() < chunks.size()) reap();
  const std::size_t count = std::min(chunks.size(), free_.size());
  std::copy(free_.end() - static_cast<std::ptrdiff_t>(count), free_.end(), chunks.begin());
  free_.resize(free_.size() - count);
  return count;
}

void XdpPort::give_back(std::span<const std::uint64_t> chunks) {
  const std::lock_guard guard(mutex_);
  free_.insert(free_.end(), chunks.begin(), chunks.end());
}

bool XdpPort::refill(std::span<const std::uint64_t> chunks) {
  const std::lock_guard guard(mutex_);
  const auto count = static_cast<std::uint32_t>(chunks.size());
  std::uint32_t first = 0;
  // The ring has room for all pieces that exist for receiving.
  [[maybe_unused]] const std::uint32_t room = ::xsk_ring_prod__reserve(&fill_, count, &first);
  assert(room == count);
  for (std::uint32_t i = 0; i < count; i++)
    *::xsk_ring_prod__fill_addr(&fill_, first + i) = chunks[i] & ~std::uint64_t{kChunkBytes - 1};
  ::xsk_ring_prod__submit(&fill_, count);
  Fences::full();  // as for frames to send (xdp_socket.cc)
  return ::xsk_ring_prod__needs_wakeup(&fill_);
}

}  // namespace omx::link
