// SPDX-License-Identifier: BSD-3-Clause
#include "tools/capture/capture_ring.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "tools/capture/capture_filter.h"

namespace omx::tools {

namespace {

// The kernel shows a GSO batch of UDP datagrams in one piece. A block has room for many batches.
constexpr std::uint32_t kBlockBytes = 1 << 20;
constexpr std::uint32_t kBlocks = 32;
constexpr std::uint32_t kBlockMs = 20;  // the kernel hands over a block that is not full after this time

}  // namespace

CaptureRing::~CaptureRing() {
  if (ring_) ::munmap(ring_, std::size_t{kBlockBytes} * kBlocks);
}

int CaptureRing::open() {
  // A socket of protocol 0 receives nothing before start().
  fd_ = OwnFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd_.open() ? 0 : errno;
}

int CaptureRing::start(std::uint32_t ifindex, const CaptureRule& rule) {
  const int version = TPACKET_V3;
  tpacket_req3 request{};
  request.tp_block_size = kBlockBytes;
  request.tp_block_nr = kBlocks;
  request.tp_frame_size = 2048;  // V3 ignores the frame size but checks that sizes and counts agree
  request.tp_frame_nr = kBlockBytes / request.tp_frame_size * kBlocks;
  request.tp_retire_blk_tov = kBlockMs;
  const int fd = fd_.get();
  if (::setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0) return errno;
  if (::setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0) return errno;
  void* ring = ::mmap(nullptr, std::size_t{kBlockBytes} * kBlocks, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) return errno;
  ring_ = static_cast<std::byte*>(ring);

  std::vector<sock_filter> lines = capture_filter_build(rule);
  const sock_fprog program{static_cast<unsigned short>(lines.size()), lines.data()};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0) return errno;
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);  // a socket of one protocol alone gets no outgoing frames
  address.sll_ifindex = static_cast<int>(ifindex);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ? errno : 0;
}

tpacket_block_desc* CaptureRing::block() const {
  return reinterpret_cast<tpacket_block_desc*>(ring_ + std::size_t{kBlockBytes} * next_);
}

bool CaptureRing::read(const std::function<bool(const CapturedFrame&)>& take) {
  bool any = false, more = true;
  // The kernel writes the status when a block is whole; we write it when we have read the block. This loop
  // goes round the ring at most once. At high rates there is always another block, and the caller must also
  // look at signals and the time.
  for (std::uint32_t blocks = 0; blocks < kBlocks && more; blocks++) {
    if (!(__atomic_load_n(&block()->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) break;
    const std::byte* at = reinterpret_cast<std::byte*>(block()) + block()->hdr.bh1.offset_to_first_pkt;
    for (std::uint32_t i = 0; i < block()->hdr.bh1.num_pkts && more; i++) {
      const auto* header = reinterpret_cast<const tpacket3_hdr*>(at);
      const auto* address = reinterpret_cast<const sockaddr_ll*>(at + TPACKET_ALIGN(sizeof *header));
      CapturedFrame frame;
      frame.time_ns = std::uint64_t{header->tp_sec} * 1'000'000'000 + header->tp_nsec;
      frame.wire_size = header->tp_len;
      frame.sent = address->sll_pkttype == PACKET_OUTGOING;
      frame.tagged = header->tp_status & TP_STATUS_VLAN_VALID;
      frame.tag = static_cast<std::uint16_t>(header->hv1.tp_vlan_tci);
      frame.tag_type = header->tp_status & TP_STATUS_VLAN_TPID_VALID ? header->hv1.tp_vlan_tpid
                                                                     : std::uint16_t{ETH_P_8021Q};
      frame.bytes = {at + header->tp_mac, header->tp_snaplen};
      more = take(frame);
      any = true;
      at += header->tp_next_offset;
    }
    __atomic_store_n(&block()->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    next_ = (next_ + 1) % kBlocks;
  }
  return any;
}

std::uint64_t CaptureRing::dropped() {
  tpacket_stats_v3 statistics{};
  socklen_t length = sizeof statistics;
  if (::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &length) < 0) return 0;
  return statistics.tp_drops;
}

}  // namespace omx::tools
