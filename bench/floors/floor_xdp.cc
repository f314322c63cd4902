// SPDX-License-Identifier: BSD-3-Clause
// omx_floor_xdp: half round trips by bare AF_XDP sockets with libxdp, both sides polling. A message has one
// frame or several, and each is copied to its place. It is the floor for OMX_LINK=xdp, as omx_floor is for
// OMX_LINK=ethernet, and shares no code with src/link. It ends if a frame of a longer message is lost.
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/floors/floor_raw.h"

namespace {

using omx::NicId;
using omx::bench::Clock;
using omx::bench::die;
using omx::bench::FrameHeader;
using omx::bench::Kind;
using omx::bench::kMinFrame;
using omx::bench::seconds_between;

constexpr std::uint32_t kFrames = 1024, kFrameBytes = 4096, kRing = 256;
// Frames of a message: at most in flight, and in one system call.
constexpr std::uint32_t kWindow = 128, kBatch = 16;
constexpr std::size_t kLargest = kFrameBytes - 256 - sizeof(FrameHeader);  // message bytes of one frame
constexpr std::size_t kEthernet = 14;
constexpr double kLostAfterSeconds = 0.2, kMessageLostAfterSeconds = 5;
constexpr int kPatience = 50;
constexpr std::uint32_t kHello = 0xFFFFFFFF;

struct XdpOptions : omx::bench::Options {
  std::string interface;
  std::string peer;
  bool generic = false;
};

// Loads the XDP program. It redirects frames with the floor's ethertype to socket 0 of the map, and passes
// all others.
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
      instruction(BPF_JMP | BPF_JGT | BPF_X, 4, 3, 7, 0),     // a shorter frame: pass
      instruction(BPF_LDX | BPF_MEM | BPF_H, 4, 2, 12, 0),    // its ethertype
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
  options.prog_flags = BPF_F_XDP_HAS_FRAGS;  // otherwise a veth with a large MTU accepts no native program
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
    if (::ioctl(control, SIOCGIFMTU, &request) < 0) die(1, "interface {}: {}", name, std::strerror(errno));
    largest_ =
        std::min(kLargest, static_cast<std::size_t>(request.ifr_mtu) + kEthernet - sizeof(FrameHeader));
    ::close(control);

    const int map = ::bpf_map_create(BPF_MAP_TYPE_XSKMAP, "omx_floor_xsk", 4, 4, 1, nullptr);
    if (map < 0) die(77, "AF_XDP needs root: {}", std::strerror(errno));
    const int program = program_load(map);
    if (program < 0) die(77, "no XDP program can be loaded: {}", std::strerror(errno));
    bpf_link_create_opts link{};
    link.sz = sizeof link;
    link.flags = options.generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
    // The kernel closes the link's descriptor when this program ends, which removes the XDP program.
    if (::bpf_link_create(program, index, BPF_XDP, &link) < 0)
      die(77, "{} accepts no XDP program: {}", name, std::strerror(errno));

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
    // The kernel frees the queue some time after its last user has ended.
    int e = 0;
    for (int looks = 200; looks > 0; looks--) {
      e = ::xsk_socket__create(&socket_, name, 0, area, &rx_, &tx_, &config);
      if (e != -EBUSY) break;
      ::poll(nullptr, 0, 5);
    }
    if (e) die(77, "no AF_XDP socket on {}: {}", name, std::strerror(-e));
    if (::xsk_socket__update_xskmap(socket_, map) != 0) die(1, "XSKMAP: {}", std::strerror(errno));
    std::uint32_t first = 0;
    ::xsk_ring_prod__reserve(&fill_, kFrames / 2, &first);
    for (std::uint32_t i = 0; i < kFrames / 2; i++)
      *::xsk_ring_prod__fill_addr(&fill_, first + i) = std::uint64_t{i} * kFrameBytes;
    ::xsk_ring_prod__submit(&fill_, kFrames / 2);
  }

  NicId nic() const { return nic_; }

  std::size_t largest() const { return largest_; }  // message bytes in one frame

  // Queues a frame. The kernel may send it only after flush().
  void put(const FrameHeader& header, const std::byte* payload) {
    std::uint32_t index = 0;
    completions_take();
    while (sent_ - done_ >= kRing || ::xsk_ring_prod__reserve(&tx_, 1, &index) == 0) {
      kick();
      completions_take();
    }
    const std::uint64_t place = (kFrames / 2 + sent_++ % (kFrames / 2)) * std::uint64_t{kFrameBytes};
    std::memcpy(memory_ + place, &header, sizeof header);
    if (payload != nullptr) std::memcpy(memory_ + place + sizeof header, payload, header.size);
    const std::size_t length = std::max(sizeof header + header.size, kMinFrame);
    *::xsk_ring_prod__tx_desc(&tx_, index) = {place, static_cast<std::uint32_t>(length), 0};
    ::xsk_ring_prod__submit(&tx_, 1);
  }
  void flush() { kick(); }

  // Calls take(header, payload) for the next frame. `take` must copy the payload, as every message layer
  // must. Returns false if no frame has arrived.
  template <class Take>
  bool receive(Take take) {
    std::uint32_t index = 0, refill = 0;
    if (::xsk_ring_cons__peek(&rx_, 1, &index) == 0) return false;
    const xdp_desc& piece = *::xsk_ring_cons__rx_desc(&rx_, index);
    FrameHeader header;
    std::memcpy(&header, memory_ + piece.addr, sizeof header);
    header.size = std::min(header.size, static_cast<std::uint32_t>(kLargest));
    take(header, memory_ + piece.addr + sizeof header);
    ::xsk_ring_prod__reserve(&fill_, 1, &refill);
    *::xsk_ring_prod__fill_addr(&fill_, refill) = piece.addr & ~std::uint64_t{kFrameBytes - 1};
    ::xsk_ring_cons__release(&rx_, 1);
    ::xsk_ring_prod__submit(&fill_, 1);
    return true;
  }

 private:
  void kick() { ::sendto(::xsk_socket__fd(socket_), nullptr, 0, MSG_DONTWAIT, nullptr, 0); }
  void completions_take() {
    std::uint32_t index = 0;
    const std::uint32_t done = ::xsk_ring_cons__peek(&completion_, kRing, &index);
    if (done > 0) ::xsk_ring_cons__release(&completion_, done);
    done_ += done;
  }

  NicId nic_ = 0;
  std::size_t largest_ = 0;
  std::uint64_t sent_ = 0, done_ = 0;  // frames; the places of done frames are free
  std::byte* memory_ = nullptr;
  xsk_ring_prod fill_{}, tx_{};
  xsk_ring_cons completion_{}, rx_{};
  xsk_socket* socket_ = nullptr;
};

// Limits the wait for the rest of a message.
class Patience {
 public:
  explicit Patience(XdpSocket& socket) : socket_(socket) {}
  void look() {
    if (++looks_ % 4096 != 0) return;
    socket_.flush();  // sends again what the kernel had no room for
    if (seconds_between(start_, Clock::now()) > kMessageLostAfterSeconds) die(1, "a frame was lost");
  }

 private:
  XdpSocket& socket_;
  Clock::time_point start_ = Clock::now();
  unsigned looks_ = 0;
};

// Sends and receives messages of any size, one direction at a time.
class Messages {
 public:
  explicit Messages(XdpSocket& socket) : socket_(socket) {}

  void peer_set(NicId peer) {
    header_ = {};
    omx::mac_store(header_.dst.data(), peer);
    omx::mac_store(header_.src.data(), socket_.nic());
    header_.ethertype = htons(omx::bench::kFloorEthertype);
  }
  std::vector<std::byte>& bytes() { return bytes_; }

  // Sends the message. `number` distinguishes it from other messages.
  void send(std::uint64_t number) {
    const std::size_t largest = socket_.largest();
    std::uint32_t credited = 0, frame = 0;
    for (std::size_t at = 0; at < bytes_.size() || frame == 0; at += largest, frame++) {
      Patience patience(socket_);
      while (frame - credited >= kWindow) {
        patience.look();
        socket_.receive([&](const FrameHeader& h, const std::byte*) {
          if (static_cast<Kind>(h.kind) == Kind::credit) credited = h.sequence;
        });
      }
      FrameHeader h = header_;
      h.kind = static_cast<std::uint8_t>(frame == 0 ? Kind::start : Kind::data);
      h.size = static_cast<std::uint32_t>(std::min(largest, bytes_.size() - at));
      h.sequence = frame == 0 ? static_cast<std::uint32_t>(bytes_.size()) : frame;
      h.value = number;
      socket_.put(h, bytes_.data() + at);
      if (frame % kBatch == kBatch - 1) socket_.flush();
    }
    socket_.flush();
  }

  // Receives the rest of a message whose first frame had `size` bytes.
  void receive_rest(std::size_t size) {
    std::uint32_t frames = 1;
    Patience patience(socket_);
    for (std::size_t at = size; at < bytes_.size();) {
      patience.look();
      socket_.receive([&](const FrameHeader& h, const std::byte* payload) {
        if (static_cast<Kind>(h.kind) != Kind::data) return;
        if (h.sequence != frames++ || at + h.size > bytes_.size()) die(1, "a frame was lost");
        std::memcpy(bytes_.data() + at, payload, h.size);
        at += h.size;
        if (frames % (kWindow / 2) == 0 && at < bytes_.size()) credit(frames);
      });
    }
  }

  void end() {
    FrameHeader h = header_;
    h.kind = static_cast<std::uint8_t>(Kind::end);
    socket_.put(h, nullptr);
    socket_.flush();
  }

 private:
  void credit(std::uint32_t frames) {
    FrameHeader h = header_;
    h.kind = static_cast<std::uint8_t>(Kind::credit);
    h.sequence = frames;
    socket_.put(h, nullptr);
    socket_.flush();
  }

  XdpSocket& socket_;
  FrameHeader header_{};
  std::vector<std::byte> bytes_;
};

constexpr std::size_t kMessageMost = 64 << 20;

void serve(const XdpOptions& options) {
  XdpSocket socket(options);
  Messages messages(socket);
  fmt::print("ready\n");
  std::fflush(stdout);
  for (bool end = false; !end;) {
    FrameHeader first{};
    socket.receive([&](const FrameHeader& h, const std::byte* payload) {
      end = static_cast<Kind>(h.kind) == Kind::end;
      if (static_cast<Kind>(h.kind) != Kind::start || h.sequence > kMessageMost || h.size > h.sequence)
        return;
      first = h;
      messages.bytes().resize(h.sequence);
      std::memcpy(messages.bytes().data(), payload, h.size);
    });
    if (first.value == 0) continue;
    messages.peer_set(omx::mac_load(first.src.data()));
    messages.receive_rest(first.size);
    messages.send(first.value);
  }
}

// Waits for the answer. Returns false if the answer to a message of one frame was lost.
bool answer_wait(XdpSocket& socket, Messages& messages, std::uint64_t number) {
  const Clock::time_point start = Clock::now();
  for (std::uint32_t spins = 1;; spins++) {
    std::size_t first = 0;
    bool ours = false;
    socket.receive([&](const FrameHeader& h, const std::byte* payload) {
      if (static_cast<Kind>(h.kind) != Kind::start || h.value != number || h.size > messages.bytes().size())
        return;
      ours = true;
      first = h.size;
      std::memcpy(messages.bytes().data(), payload, h.size);
    });
    if (ours) {
      messages.receive_rest(first);
      return true;
    }
    if (spins % 65536 == 0 && seconds_between(start, Clock::now()) > kLostAfterSeconds) return false;
  }
}

void measure(const XdpOptions& options) {
  const auto peer = omx::mac_parse(options.peer);
  if (!peer) die(2, "--peer {} is not a MAC address", options.peer);
  XdpSocket socket(options);
  Messages messages(socket);
  messages.peer_set(*peer);
  std::uint64_t number = 0;
  const auto trip = [&](std::size_t size) {
    messages.bytes().resize(size);
    messages.send(++number);
    return answer_wait(socket, messages, number);
  };
  bool there = false;
  for (int i = 0; i < kPatience && !there; i++) there = trip(0);
  if (!there)
    die(1, "no answer from {} on {}: is the server running there?", options.peer, options.interface);

  omx::bench::Report report("xdp-pingpong", options);
  for (int repeat = 0; repeat < options.repeats; repeat++) {
    for (const std::size_t size : options.sizes) {
      if (size > kMessageMost) continue;
      // Large sizes take about as long as small ones.
      const int count = std::max(options.iterations / static_cast<int>(1 + size / 4096), 10);
      const int warm_up = std::min(options.warm_up, count);
      for (int i = -warm_up; i < count; i++) {
        const Clock::time_point before = Clock::now();
        if (!trip(size))
          report.lost(size, 1);
        else if (i >= 0)
          report.latency(size, seconds_between(before, Clock::now()) * 1e6 / 2);
      }
    }
  }
  messages.end();
  report.print_latency();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Half round trips of messages by bare AF_XDP sockets between two hosts, on queue 0");
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
