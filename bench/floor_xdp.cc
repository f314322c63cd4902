// SPDX-License-Identifier: BSD-3-Clause
// omx_floor_xdp: half round trips of one frame by bare AF_XDP sockets, both sides polling, by libxdp as it
// is. Shares no code with src/link. What omx_floor is to OMX_LINK=ethernet, this is to OMX_LINK=xdp.
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "floor_raw.h"

namespace {

using omx::NicId;
using omx::bench::Clock;
using omx::bench::die;
using omx::bench::FrameHeader;
using omx::bench::Kind;
using omx::bench::kMinFrame;
using omx::bench::seconds_between;

constexpr std::uint32_t kFrames = 256, kFrameBytes = 4096, kRing = 64;
constexpr std::size_t kLargest = kFrameBytes - 256 - sizeof(FrameHeader);  // one piece
constexpr double kLostAfterSeconds = 0.2;
constexpr int kPatience = 50;
constexpr std::uint32_t kHello = 0xFFFFFFFF;

struct XdpOptions : omx::bench::Options {
  std::string interface;
  std::string peer;
  bool generic = false;
};

// Frames of the floor's type to socket 0 of the map, all others pass.
int program_load(int map) {
  const auto instruction = [](std::uint8_t code, std::uint8_t dst, std::uint8_t src, std::int16_t off,
                              std::int32_t imm) {
    bpf_insn i{};
    i.code = code;
    i.dst_reg = dst & 0xF;
    i.src_reg = src & 0xF;
    i.off = off;
    i.imm = imm;
    return i;
  };
  const bpf_insn program[] = {
      instruction(BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0),     // r2 = data
      instruction(BPF_LDX | BPF_MEM | BPF_W, 3, 1, 4, 0),     // r3 = data_end
      instruction(BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0),   // r4 = r2 + 14
      instruction(BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, 14),  //
      instruction(BPF_JMP | BPF_JGT | BPF_X, 4, 3, 7, 0),     // shorter: pass
      instruction(BPF_LDX | BPF_MEM | BPF_H, 4, 2, 12, 0),    // its type
      instruction(BPF_JMP | BPF_JNE | BPF_K, 4, 0, 5, htons(omx::bench::kFloorEthertype)),
      instruction(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map),
      instruction(0, 0, 0, 0, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_PASS),
      instruction(BPF_JMP | BPF_JA, 0, 0, 2, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
      instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  };
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.prog_flags = BPF_F_XDP_HAS_FRAGS;  // else a veth takes no program natively with a large MTU
  return ::bpf_prog_load(BPF_PROG_TYPE_XDP, "omx_floor_xdp", "Dual BSD/GPL", program, std::size(program),
                         &options);
}

class XdpSocket {
 public:
  explicit XdpSocket(const XdpOptions& options) {
    const char* const name = options.interface.c_str();
    const int index = static_cast<int>(::if_nametoindex(name));
    if (index == 0) die(1, "interface {}: {}", name, std::strerror(errno));
    const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    if (::ioctl(control, SIOCGIFHWADDR, &request) < 0) die(1, "interface {}: {}", name, std::strerror(errno));
    nic_ = omx::mac_load(reinterpret_cast<const std::byte*>(request.ifr_hwaddr.sa_data));
    ::close(control);

    const int map = ::bpf_map_create(BPF_MAP_TYPE_XSKMAP, "omx_floor_xsk", 4, 4, 1, nullptr);
    if (map < 0) die(77, "AF_XDP takes root: {}", std::strerror(errno));
    const int program = program_load(map);
    if (program < 0) die(77, "no XDP program can be loaded: {}", std::strerror(errno));
    bpf_link_create_opts link{};
    link.sz = sizeof link;
    link.flags = options.generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
    // Its descriptor is closed by the kernel when this program ends, and takes the XDP program off.
    if (::bpf_link_create(program, index, BPF_XDP, &link) < 0)
      die(77, "{} takes no XDP program: {}", name, std::strerror(errno));

    void* const memory = ::mmap(nullptr, std::size_t{kFrames} * kFrameBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    memory_ = static_cast<std::byte*>(memory);
    xsk_umem_config umem{kFrames, kFrames, kFrameBytes, 0, 0};
    xsk_umem* area = nullptr;
    if (const int e = ::xsk_umem__create(&area, memory, std::uint64_t{kFrames} * kFrameBytes, &fill_,
                                         &completion_, &umem))
      die(77, "no memory for AF_XDP: {}", std::strerror(-e));
    xsk_socket_config config{};
    config.rx_size = config.tx_size = kRing;
    config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    config.bind_flags = XDP_USE_NEED_WAKEUP;
    if (const int e = ::xsk_socket__create(&socket_, name, 0, area, &rx_, &tx_, &config))
      die(77, "no AF_XDP socket on {}: {}", name, std::strerror(-e));
    if (const int e = ::xsk_socket__update_xskmap(socket_, map)) die(1, "XSKMAP: {}", std::strerror(-e));
    std::uint32_t first = 0;
    ::xsk_ring_prod__reserve(&fill_, kFrames / 2, &first);
    for (std::uint32_t i = 0; i < kFrames / 2; i++)
      *::xsk_ring_prod__fill_addr(&fill_, first + i) = std::uint64_t{i} * kFrameBytes;
    ::xsk_ring_prod__submit(&fill_, kFrames / 2);
  }

  NicId nic() const { return nic_; }

  // One frame at a time is under way: its place is free again when the next is sent.
  void send(const std::vector<std::byte>& frame, std::size_t length) {
    std::uint32_t index = 0;
    const std::uint32_t done = ::xsk_ring_cons__peek(&completion_, kRing, &index);
    if (done > 0) ::xsk_ring_cons__release(&completion_, done);
    while (::xsk_ring_prod__reserve(&tx_, 1, &index) == 0) kick();
    const std::uint64_t place = (kFrames / 2 + index % (kFrames / 2)) * std::uint64_t{kFrameBytes};
    std::memcpy(memory_ + place, frame.data(), length);
    *::xsk_ring_prod__tx_desc(&tx_, index) = {place, static_cast<std::uint32_t>(length), 0};
    ::xsk_ring_prod__submit(&tx_, 1);
    kick();
  }

  // Copies the payload out, as every message layer must; false: nothing came.
  bool receive(std::vector<std::byte>& frame) {
    std::uint32_t index = 0, refill = 0;
    if (::xsk_ring_cons__peek(&rx_, 1, &index) == 0) return false;
    const xdp_desc& piece = *::xsk_ring_cons__rx_desc(&rx_, index);
    FrameHeader header;
    std::memcpy(&header, memory_ + piece.addr, sizeof header);
    std::memcpy(frame.data(), memory_ + piece.addr,
                sizeof header + std::min<std::size_t>(header.size, kLargest));
    ::xsk_ring_prod__reserve(&fill_, 1, &refill);
    *::xsk_ring_prod__fill_addr(&fill_, refill) = piece.addr & ~std::uint64_t{kFrameBytes - 1};
    ::xsk_ring_cons__release(&rx_, 1);
    ::xsk_ring_prod__submit(&fill_, 1);
    return true;
  }

 private:
  void kick() { ::sendto(::xsk_socket__fd(socket_), nullptr, 0, MSG_DONTWAIT, nullptr, 0); }

  NicId nic_ = 0;
  std::byte* memory_ = nullptr;
  xsk_ring_prod fill_{}, tx_{};
  xsk_ring_cons completion_{}, rx_{};
  xsk_socket* socket_ = nullptr;
};

FrameHeader& header_of(std::vector<std::byte>& frame) {
  return *reinterpret_cast<FrameHeader*>(frame.data());
}

std::size_t length_of(std::size_t size) {
  return std::max(sizeof(FrameHeader) + size, kMinFrame);
}

void serve(const XdpOptions& options) {
  XdpSocket socket(options);
  std::vector<std::byte> frame(kFrameBytes);
  fmt::print("ready\n");
  std::fflush(stdout);
  for (;;) {
    if (!socket.receive(frame)) continue;
    FrameHeader& header = header_of(frame);
    if (static_cast<Kind>(header.kind) == Kind::end) return;
    header.dst = header.src;
    omx::mac_store(header.src.data(), socket.nic());
    socket.send(frame, length_of(header.size));
  }
}

bool answer_wait(XdpSocket& socket, std::vector<std::byte>& frame, std::uint32_t sequence) {
  const Clock::time_point start = Clock::now();
  for (std::uint32_t spins = 1;; spins++) {
    if (socket.receive(frame)) {
      if (header_of(frame).sequence == sequence) return true;
    } else if (spins % 65536 == 0 && seconds_between(start, Clock::now()) > kLostAfterSeconds) {
      return false;
    }
  }
}

void measure(const XdpOptions& options) {
  const auto peer = omx::mac_parse(options.peer);
  if (!peer) die(2, "--peer {} is not a MAC address", options.peer);
  XdpSocket socket(options);
  std::vector<std::byte> sent(kFrameBytes), answer(kFrameBytes);
  FrameHeader& header = header_of(sent);
  omx::mac_store(header.dst.data(), *peer);
  omx::mac_store(header.src.data(), socket.nic());
  header.ethertype = htons(omx::bench::kFloorEthertype);
  header.kind = static_cast<std::uint8_t>(Kind::ping);
  const auto trip = [&](std::uint32_t sequence, std::size_t size) {
    header.sequence = sequence;
    socket.send(sent, length_of(size));
    return answer_wait(socket, answer, sequence);
  };
  bool there = false;
  for (int i = 0; i < kPatience && !there; i++) there = trip(kHello, 0);
  if (!there)
    die(1, "no answer from {} on {}: is the server running there?", options.peer, options.interface);

  omx::bench::Report report("xdp-pingpong", options);
  std::uint32_t sequence = 0;
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (const std::size_t size : options.sizes) {
      if (size > kLargest) continue;
      header.size = static_cast<std::uint32_t>(size);
      for (int i = -options.warm_up; i < options.iterations; i++) {
        const Clock::time_point before = Clock::now();
        if (!trip(++sequence, size))
          report.lost(size, 1);
        else if (i >= 0)
          report.latency(size, seconds_between(before, Clock::now()) * 1e6 / 2);
      }
    }
  }
  header.kind = static_cast<std::uint8_t>(Kind::end);
  socket.send(sent, kMinFrame);
  report.print_latency();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Latency of bare AF_XDP sockets between two hosts, on queue 0; frames of up to 3,840 bytes");
  app.require_subcommand(1);
  XdpOptions options;
  CLI::App* server = app.add_subcommand("server", "answer a client");
  CLI::App* client = app.add_subcommand("client", "measure and print");
  for (CLI::App* role : {server, client}) {
    role->add_option("--interface", options.interface, "name of the Ethernet interface")->required();
    role->add_flag("--generic", options.generic, "without the driver's support");
  }
  omx::bench::add_server_options(*server, options);
  omx::bench::add_client_options(*client, options);
  client->add_option("--peer", options.peer, "MAC address of the server's interface")->required();
  CLI11_PARSE(app, argc, argv);
  omx::bench::pin(options.cpu);
  ::libbpf_set_print(nullptr);
  if (*server) {
    serve(options);
  } else {
    if (options.sizes.empty()) options.sizes = {1, 16, 64, 256, 1024, 1400};
    measure(options);
  }
  return 0;
}
