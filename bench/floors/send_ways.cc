// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/send_ways.h"

#include <arpa/inet.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace omx::bench {

namespace {

constexpr std::size_t kBatch = 32;
// Less than the queue of an interface, which would drop frames, and senders would try again and again.
constexpr int kSendBuffer = 2 << 20;

FrameHeader header_of(const SendTarget& target, NicId own) {
  FrameHeader h{};
  mac_store(h.dst.data(), target.mac);
  mac_store(h.src.data(), own);
  h.ethertype = htons(kFloorEthertype);
  h.kind = static_cast<std::uint8_t>(Kind::data);
  return h;
}

FloorOptions floor_options(const SendTarget& target) {
  FloorOptions options;
  options.interface = target.interface;
  return options;
}

// sendmmsg() of header and data. `aligned`: the kernel keeps the header apart (PACKET_VNET_HDR), so that the
// data begin at a page.
class PacketWay final : public SendWay {
 public:
  PacketWay(bool aligned, const SendTarget& target)
      : socket_(floor_options(target), false), frame_(target.frame), aligned_(aligned) {
    const int one = 1;
    if (aligned && ::setsockopt(socket_.fd(), SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) < 0)
      die(77, "PACKET_VNET_HDR: {}", std::strerror(errno));
    // The kernel doubles the number.
    const int buffer = kSendBuffer / 2;
    if (::setsockopt(socket_.fd(), SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer) < 0)
      ::setsockopt(socket_.fd(), SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    header_ = header_of(target, socket_.nic());
    layout_[2] = sizeof header_;  // hdr_len, little-endian
  }
  std::size_t send(const std::byte* data, std::size_t bytes) override {
    std::size_t count = 0;
    iovec pieces[kBatch][3];
    mmsghdr messages[kBatch] = {};
    std::size_t taken = 0;
    for (; count < kBatch && taken < bytes; count++) {
      const std::size_t length = std::min(frame_, bytes - taken);
      pieces[count][0] = {layout_, sizeof layout_};
      pieces[count][1] = {&header_, sizeof header_};
      pieces[count][2] = {const_cast<std::byte*>(data) + taken, length};
      messages[count].msg_hdr.msg_iov = aligned_ ? pieces[count] : pieces[count] + 1;
      messages[count].msg_hdr.msg_iovlen = aligned_ ? 3 : 2;
      taken += length;
    }
    const int sent = ::sendmmsg(socket_.fd(), messages, static_cast<unsigned>(count), 0);
    if (sent <= 0) {
      must_retry("sendmmsg");
      return 0;
    }
    return std::min(static_cast<std::size_t>(sent) * frame_, taken);
  }

 private:
  RawSocket socket_;
  FrameHeader header_{};
  unsigned char layout_[10] = {};
  std::size_t frame_;
  bool aligned_;
};

// Frames are written into a ring that the kernel sends from (PACKET_TX_RING). Where the packet stays in this
// machine the kernel copies them once more.
class RingWay final : public SendWay {
 public:
  explicit RingWay(const SendTarget& target) : socket_(floor_options(target), false), frame_(target.frame) {
    const int version = TPACKET_V2;
    slot_ = TPACKET_ALIGN(kDataAt + sizeof(FrameHeader) + frame_);
    std::size_t block = 64 << 10;
    slots_ = block / slot_ * kBlocks;
    tpacket_req request{};
    request.tp_block_size = static_cast<unsigned>(block);
    request.tp_block_nr = kBlocks;
    request.tp_frame_size = static_cast<unsigned>(slot_);
    request.tp_frame_nr = static_cast<unsigned>(slots_);
    per_block_ = block / slot_;
    block_ = block;
    if (::setsockopt(socket_.fd(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        ::setsockopt(socket_.fd(), SOL_PACKET, PACKET_TX_RING, &request, sizeof request) < 0)
      die(77, "PACKET_TX_RING: {}", std::strerror(errno));
    void* const memory =
        ::mmap(nullptr, block * kBlocks, PROT_READ | PROT_WRITE, MAP_SHARED, socket_.fd(), 0);
    if (memory == MAP_FAILED) die(77, "the transmit ring cannot be mapped: {}", std::strerror(errno));
    ring_ = static_cast<std::byte*>(memory);
    header_ = header_of(target, socket_.nic());
  }
  ~RingWay() override { ::munmap(ring_, block_ * kBlocks); }

  std::size_t send(const std::byte* data, std::size_t bytes) override {
    std::size_t taken = 0;
    for (std::size_t count = 0; count < kBatch && taken < bytes; count++) {
      std::byte* const slot = ring_ + next_ / per_block_ * block_ + next_ % per_block_ * slot_;
      auto* const head = reinterpret_cast<tpacket2_hdr*>(slot);
      const std::uint32_t status = __atomic_load_n(&head->tp_status, __ATOMIC_ACQUIRE);
      if (status & TP_STATUS_WRONG_FORMAT) die(1, "the kernel refuses a frame of the transmit ring");
      if (status != TP_STATUS_AVAILABLE) break;
      const std::size_t length = std::min(frame_, bytes - taken);
      std::memcpy(slot + kDataAt, &header_, sizeof header_);
      std::memcpy(slot + kDataAt + sizeof header_, data + taken, length);
      head->tp_len = static_cast<std::uint32_t>(sizeof header_ + length);
      __atomic_store_n(&head->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
      next_ = (next_ + 1) % slots_;
      taken += length;
    }
    // Without room the call waits until a frame has left.
    if (::send(socket_.fd(), nullptr, 0, taken > 0 ? MSG_DONTWAIT : 0) < 0) must_retry("send");
    return taken;
  }

 private:
  static constexpr std::size_t kBlocks = 32;
  static constexpr std::size_t kDataAt = TPACKET2_HDRLEN - sizeof(sockaddr_ll);
  RawSocket socket_;
  FrameHeader header_{};
  std::byte* ring_ = nullptr;
  std::size_t frame_, slot_ = 0, slots_ = 0, per_block_ = 0, block_ = 0, next_ = 0;
};

// Frames are written into memory that the driver reads (zero-copy), or that the kernel copies (copy mode).
class XdpWay final : public SendWay {
 public:
  explicit XdpWay(const SendTarget& target) : frame_(target.frame) {
    if (frame_ + sizeof(FrameHeader) > kChunk) die(77, "a frame for AF_XDP has at most {} bytes", kChunk);
    {
      const RawSocket raw(floor_options(target), false);
      header_ = header_of(target, raw.nic());
    }
    fd_ = ::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd_ < 0) die(77, "AF_XDP: {}", std::strerror(errno));
    memory_ = static_cast<std::byte*>(::mmap(nullptr, kChunks * kChunk, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
    mappings_.push_back({memory_, kChunks * kChunk});
    xdp_umem_reg memory{};
    memory.addr = reinterpret_cast<std::uint64_t>(memory_);
    memory.len = kChunks * kChunk;
    memory.chunk_size = kChunk;
    set(XDP_UMEM_REG, memory);
    if (::setsockopt(fd_, SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory) == 0)
      remark_ = "memory can be registered twice";
    else
      remark_ = fmt::format("a second registration of memory: {}", std::strerror(errno));
    const int ring = kChunks;
    set(XDP_UMEM_FILL_RING, ring);
    set(XDP_UMEM_COMPLETION_RING, ring);
    set(XDP_TX_RING, ring);
    xdp_mmap_offsets at{};
    socklen_t length = sizeof at;
    if (::getsockopt(fd_, SOL_XDP, XDP_MMAP_OFFSETS, &at, &length) < 0)
      die(77, "XDP_MMAP_OFFSETS: {}", std::strerror(errno));
    tx_ = map(XDP_PGOFF_TX_RING, at.tx, sizeof(xdp_desc));
    done_ = map(XDP_UMEM_PGOFF_COMPLETION_RING, at.cr, sizeof(std::uint64_t));
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_ifindex = ::if_nametoindex(target.interface.c_str());
    address.sxdp_flags = target.zero_copy ? XDP_ZEROCOPY : XDP_COPY;
    // The kernel frees the queue some time after its last user has ended.
    int error = EBUSY;
    for (int tries = 200; tries > 0 && error == EBUSY; tries--) {
      error = ::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0 ? errno : 0;
      if (error == EBUSY) ::poll(nullptr, 0, 5);
    }
    if (error) die(77, "AF_XDP, {}: {}", target.zero_copy ? "zero-copy" : "copying", std::strerror(error));
  }
  ~XdpWay() override {
    for (const Mapping& one : mappings_) ::munmap(one.start, one.bytes);
    ::close(fd_);
  }

  std::size_t send(const std::byte* data, std::size_t bytes) override {
    const std::uint32_t finished = __atomic_load_n(done_.producer, __ATOMIC_ACQUIRE);
    __atomic_store_n(done_.consumer, finished, __ATOMIC_RELEASE);
    std::uint32_t next = *tx_.producer;
    std::size_t taken = 0;
    for (std::size_t count = 0; count < kBatch && taken < bytes && next - finished < kChunks; count++) {
      const std::size_t length = std::min(frame_, bytes - taken);
      const std::uint32_t slot = next % kChunks;
      std::byte* const place = memory_ + slot * kChunk;
      std::memcpy(place, &header_, sizeof header_);
      std::memcpy(place + sizeof header_, data + taken, length);
      reinterpret_cast<xdp_desc*>(tx_.entries)[slot] = {
          slot * kChunk, static_cast<std::uint32_t>(sizeof header_ + length), 0};
      next++;
      taken += length;
    }
    __atomic_store_n(tx_.producer, next, __ATOMIC_RELEASE);
    if (::sendto(fd_, nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0 && errno != EBUSY) must_retry("sendto");
    if (taken == 0) {
      pollfd wait{fd_, POLLOUT, 0};
      ::poll(&wait, 1, 1);
    }
    return taken;
  }
  std::string remark() override { return remark_; }

 private:
  static constexpr std::uint32_t kChunks = 512;
  static constexpr std::size_t kChunk = 4096;
  struct Ring {
    std::uint32_t* producer;
    std::uint32_t* consumer;
    std::byte* entries;
  };
  template <class Value>
  void set(int option, const Value& value) {
    if (::setsockopt(fd_, SOL_XDP, option, &value, sizeof value) < 0)
      die(77, "AF_XDP, option {}: {}", option, std::strerror(errno));
  }
  Ring map(std::uint64_t page, const xdp_ring_offset& at, std::size_t entry) {
    void* const base = ::mmap(nullptr, at.desc + kChunks * entry, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_POPULATE, fd_, static_cast<off_t>(page));
    if (base == MAP_FAILED) die(77, "AF_XDP's rings cannot be mapped: {}", std::strerror(errno));
    mappings_.push_back({base, at.desc + kChunks * entry});
    auto* const start = static_cast<std::byte*>(base);
    return {reinterpret_cast<std::uint32_t*>(start + at.producer),
            reinterpret_cast<std::uint32_t*>(start + at.consumer), start + at.desc};
  }

  struct Mapping {
    void* start;
    std::size_t bytes;
  };
  int fd_ = -1;
  std::size_t frame_;
  std::byte* memory_ = nullptr;
  std::vector<Mapping> mappings_;
  FrameHeader header_{};
  Ring tx_{}, done_{};
  std::string remark_;
};

}  // namespace

std::unique_ptr<SendWay> packet_way_open(bool aligned, const SendTarget& target) {
  return std::make_unique<PacketWay>(aligned, target);
}
std::unique_ptr<SendWay> ring_way_open(const SendTarget& target) {
  return std::make_unique<RingWay>(target);
}
std::unique_ptr<SendWay> xdp_way_open(const SendTarget& target) {
  return std::make_unique<XdpWay>(target);
}

const std::vector<std::string>& send_ways() {
  static const std::vector<std::string> names = {"frames",       "frames-aligned", "frames-ring",
                                                 "xdp",          "xdp-zerocopy",   "udp",
                                                 "udp-zerocopy", "udp-one-header", "udp-one-header-zerocopy"};
  return names;
}

std::unique_ptr<SendWay> send_way_open(const std::string& name, const SendTarget& target) {
  SendTarget zero_copy = target;
  zero_copy.zero_copy = true;
  if (name == "frames") return packet_way_open(false, target);
  if (name == "frames-aligned") return packet_way_open(true, target);
  if (name == "frames-ring") return ring_way_open(target);
  if (name == "xdp") return xdp_way_open(target);
  if (name == "xdp-zerocopy") return xdp_way_open(zero_copy);
  if (name == "udp") return udp_way_open(false, false, target);
  if (name == "udp-zerocopy") return udp_way_open(false, true, target);
  if (name == "udp-one-header") return udp_way_open(true, false, target);
  if (name == "udp-one-header-zerocopy") return udp_way_open(true, true, target);
  die(2, "there is no way {}", name);
}

}  // namespace omx::bench
