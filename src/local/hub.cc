// SPDX-License-Identifier: BSD-3-Clause
#include "local/hub.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace omx::local {

namespace {

// Enough for the frames of one turn to stay in the second-level cache.
constexpr std::size_t kRingBytes = 512 * 1024;
constexpr std::size_t kWaitingMost = 64U << 20;  // the engine's windows keep far below
constexpr std::uint32_t kMagic = 0x4f4d584c;
constexpr std::uint64_t kProof = 0x6f70656e2d6d7821;  // what a peer finds at Hello::proof_at
constexpr std::size_t kEventsAtOnce = 16;

// The first message on a connection, with the ring's descriptor.
struct Hello {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kRingVersion;
  NicId nic = 0;
  std::uint64_t ring_bytes = kRingBytes;
  std::uint64_t proof_at = 0;  // in the sender's memory
  std::uint32_t endpoint = 0;
  std::uint32_t reserved = 0;
};

// A region's memory, as a record.
struct RegionHead {
  std::uint8_t region = 0, generation = 0;
  std::uint16_t count = 0;
  std::uint32_t reserved = 0;
};

const std::uint64_t g_proof = kProof;

bool hello_send(int connection, const Hello& hello, int memory) {
  iovec piece{const_cast<Hello*>(&hello), sizeof hello};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
  return ::sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(sizeof hello);
}

// 1: `hello` and `memory` are filled; 0: not yet; -1: it hung up, or is none of ours.
int hello_receive(int connection, Hello& hello, OwnFd& memory) {
  iovec piece{&hello, sizeof hello};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(h), sizeof fd);
    memory = OwnFd(fd);
  }
  const bool good = got == static_cast<ssize_t>(sizeof hello) && memory.open() && hello.magic == kMagic &&
                    hello.version == kRingVersion && hello.ring_bytes == kRingBytes && hello.endpoint < 256;
  return good ? 1 : -1;
}

// Whether we may read that process's memory (Yama, containers and other users forbid it).
bool memory_readable(int pid, std::uint64_t at) {
  std::uint64_t value = 0;
  iovec here{&value, sizeof value};
  iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(at)), sizeof value};
  return ::process_vm_readv(pid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof value) &&
         value == kProof;
}

// Headers of endpoint packets are longer than what destination_endpoint() needs.
Place destination(std::span<const iovec> frame) {
  const auto* head = static_cast<const std::byte*>(frame[0].iov_base);
  return {mac_load(head), static_cast<std::uint8_t>(wire::destination_endpoint({head, frame[0].iov_len}))};
}

}  // namespace

Hub::Hub(HubOptions options) : options_(std::move(options)), poll_(::epoll_create1(EPOLL_CLOEXEC)) {
  watch(options_.listener);
}

Hub::~Hub() = default;

void Hub::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
}

// --- out ---------------------------------------------------------------------------------------------------

Hub::LaneOut* Hub::lane_to(const Place& to) {
  if (last_out_ && last_out_->to == to) return last_out_;
  for (const auto& lane : out_)
    if (lane->to == to) return last_out_ = lane.get();
  return lane_open(to);
}

Hub::LaneOut* Hub::lane_open(const Place& to) {
  OwnFd connection = options_.connect(to);
  if (!connection.open()) return nullptr;
  auto lane = std::make_unique<LaneOut>();
  lane->to = to;
  lane->memory = SharedMemory::create(ring_memory(kRingBytes));
  if (!lane->memory.mapped()) {
    errno = ENOMEM;
    return nullptr;
  }
  lane->ring = RingWriter(lane->memory.data(), kRingBytes);
  Hello hello;
  hello.nic = options_.self.nic;
  hello.endpoint = options_.self.endpoint;
  hello.proof_at = reinterpret_cast<std::uintptr_t>(&g_proof);
  if (!hello_send(connection.get(), hello, lane->memory.descriptor())) return nullptr;
  lane->memory.descriptor_close();
  lane->connection = std::move(connection);
  watch(lane->connection.get());
  out_.push_back(std::move(lane));
  return last_out_ = out_.back().get();
}

void Hub::put(LaneOut& lane, Kind kind, std::span<const iovec> pieces, std::size_t least) {
  lane.touched = touched_ = true;
  if (lane.waiting.empty() && lane.ring.put(kind, pieces, least)) return;
  std::vector<std::byte> bytes;
  for (const iovec& piece : pieces) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), from, from + piece.iov_len);
  }
  if (bytes.size() < least) bytes.resize(least);
  if (lane.waiting_bytes + bytes.size() > kWaitingMost) {
    counters_.frames_dropped++;
    return;
  }
  lane.waiting_bytes += bytes.size();
  lane.waiting.push_back({kind, std::move(bytes)});
  counters_.frames_delayed++;
  backlog_ = true;
}

void Hub::send(std::span<const iovec> frame) {
  LaneOut* lane = lane_to(destination(frame));
  if (lane) {
    counters_.frames_sent++;
    return put(*lane, Kind::frame, frame, wire::kMinFrame);
  }
  counters_.frames_dropped++;
  if (errno != ECONNREFUSED) return;  // it is sent again
  const auto* head = static_cast<const std::byte*>(frame[0].iov_base);
  refused_.emplace_back(head, head + frame[0].iov_len);
  refused_.back().resize(std::max(refused_.back().size(), wire::kMinFrame));
}

void Hub::send_region(const Place& to, std::uint8_t region, std::uint8_t generation,
                      std::span<const protocol::Segment> memory) {
  LaneOut* lane = lane_to(to);
  if (!lane) return;
  std::array<iovec, 257> pieces;
  std::array<iovec, 256> places;
  RegionHead head{region, generation, static_cast<std::uint16_t>(memory.size()), 0};
  if (memory.size() > places.size()) return;
  for (std::size_t i = 0; i < memory.size(); i++) places[i] = {memory[i].base, memory[i].length};
  pieces[0] = {&head, sizeof head};
  pieces[1] = {places.data(), memory.size() * sizeof(iovec)};
  put(*lane, Kind::regions, {pieces.data(), 2}, 0);
}

// False while some of it still waits.
bool Hub::drain(LaneOut& lane) {
  while (!lane.waiting.empty()) {
    Waiting& first = lane.waiting.front();
    const iovec piece{first.bytes.data(), first.bytes.size()};
    if (!lane.ring.put(first.kind, {&piece, 1})) return false;
    lane.waiting_bytes -= first.bytes.size();
    lane.waiting.pop_front();
    lane.touched = touched_ = true;
  }
  return true;
}

void Hub::flush() {
  if (!touched_) return;
  touched_ = false;
  for (const auto& lane : out_) {
    if (!lane->touched) continue;
    lane->touched = false;
    if (!lane->ring.must_wake()) continue;
    const char bell = 0;
    [[maybe_unused]] const ssize_t sent =
        ::send(lane->connection.get(), &bell, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    counters_.bells++;
  }
}

// --- in ----------------------------------------------------------------------------------------------------

Hub::LaneIn* Hub::lane_from(const Place& from) {
  for (const auto& lane : in_)
    if (lane->from == from && !lane->gone) return lane.get();
  return nullptr;
}

bool Hub::hello_read(OwnFd& connection, LaneIn& lane) {
  Hello hello;
  OwnFd memory;
  if (hello_receive(connection.get(), hello, memory) <= 0) return false;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  // The cable asks for CAP_NET_RAW; here whoever is not us, or root, would come in without.
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0 ||
      (credentials.uid != ::geteuid() && credentials.uid != 0))
    return false;
  lane.memory = SharedMemory::adopt(std::move(memory), ring_memory(kRingBytes));
  if (!lane.memory.mapped()) return false;
  lane.memory.descriptor_close();
  lane.ring = RingReader(lane.memory.data(), kRingBytes);
  lane.from = {hello.nic, static_cast<std::uint8_t>(hello.endpoint)};
  lane.pid = credentials.pid;
  lane.readable = lane.pid > 0 && memory_readable(lane.pid, hello.proof_at);
  return true;
}

void Hub::lane_adopt(OwnFd connection) {
  auto lane = std::make_unique<LaneIn>();
  if (!hello_read(connection, *lane)) return;
  lane->connection = std::move(connection);
  // A new instance of the peer: the old one is gone, whatever its connection says.
  if (LaneIn* old = lane_from(lane->from)) old->gone = true;
  in_.push_back(std::move(lane));
}

void Hub::region_learn(LaneIn& lane, std::span<const std::byte> bytes) {
  RegionHead head;
  if (bytes.size() < sizeof head) return;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (bytes.size() != sizeof head + head.count * sizeof(iovec)) return;
  auto& region = lane.regions[head.region];
  if (!region) region = std::make_unique<Region>();
  region->generation = head.generation;
  region->memory.resize(head.count);
  if (head.count > 0)
    std::memcpy(region->memory.data(), bytes.data() + sizeof head, head.count * sizeof(iovec));
}

std::size_t Hub::receive_from(LaneIn& lane, Arrivals& arrivals, std::size_t budget) {
  std::size_t frames = 0;
  while (frames < budget) {
    const Record record = lane.ring.front();
    if (record.kind == Kind::none) break;
    if (record.kind == Kind::regions) region_learn(lane, record.bytes);
    // Nobody speaks for others.
    if (record.kind == Kind::frame && record.bytes.size() >= wire::kMinFrame &&
        mac_load(record.bytes.data() + 6) == lane.from.nic) {
      frames++;
      arrivals.on_local_frame(record.bytes);
    }
    lane.ring.pop();
  }
  if (frames > 0) lane.ring.publish();
  return frames;
}

std::size_t Hub::receive(Arrivals& arrivals, std::size_t budget) {
  if (backlog_) {
    backlog_ = false;
    for (const auto& lane : out_)
      if (!drain(*lane)) backlog_ = true;
    flush();
  }
  for (; !refused_.empty(); refused_.pop_front()) {
    const std::vector<std::byte> frame = std::move(refused_.front());
    arrivals.on_local_refused(frame);
  }
  std::size_t frames = 0;
  for (const auto& lane : in_) frames += receive_from(*lane, arrivals, budget);
  counters_.frames_received += frames;
  return frames;
}

void Hub::tick(Arrivals& arrivals) {
  for (;;) {
    OwnFd connection(::accept4(options_.listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.open()) break;
    watch(connection.get());  // what it says may come later, when we sleep
    strangers_.push_back(std::move(connection));
  }
  for (auto it = strangers_.begin(); it != strangers_.end();) {
    char byte;
    const ssize_t there = ::recv(it->get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (there < 0 && (errno == EAGAIN || errno == EINTR)) {
      ++it;
      continue;
    }
    if (there > 0) lane_adopt(std::move(*it));
    it = strangers_.erase(it);
  }
  epoll_event events[kEventsAtOnce];
  const int count = ::epoll_wait(poll_.get(), events, kEventsAtOnce, 0);
  for (int i = 0; i < count; i++) {
    const int fd = events[i].data.fd;
    const auto is_stranger = [fd](const OwnFd& stranger) { return stranger.get() == fd; };
    if (fd == options_.listener || std::any_of(strangers_.begin(), strangers_.end(), is_stranger)) continue;
    char bells[64];
    const ssize_t got = ::recv(fd, bells, sizeof bells, MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) continue;
    for (const auto& lane : in_)
      if (lane->connection.get() == fd) lane->gone = true;
    if (last_out_ && last_out_->connection.get() == fd) last_out_ = nullptr;
    std::erase_if(out_, [&](const auto& lane) { return lane->connection.get() == fd; });
  }
  for (std::size_t i = 0; i < in_.size();) {
    LaneIn& lane = *in_[i];
    if (lane.ring.broken()) lane.gone = true;
    if (!lane.gone || (lane.ring.pending() && !lane.ring.broken())) {
      i++;
      continue;
    }
    const Place peer = lane.from;
    in_.erase(in_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!lane_from(peer)) arrivals.on_local_gone(peer);
  }
}

// --- asleep ------------------------------------------------------------------------------------------------

bool Hub::fall_asleep() {
  if (!refused_.empty()) return false;
  for (const auto& lane : in_) {
    if (lane->ring.fall_asleep()) continue;
    wake_up();
    return false;
  }
  return true;
}

void Hub::wake_up() {
  for (const auto& lane : in_) lane->ring.wake_up();
}

// --- one copy ----------------------------------------------------------------------------------------------

bool Hub::read(NicId nic, std::uint8_t endpoint, std::uint8_t region, std::uint8_t generation,
               std::uint64_t offset, std::span<const protocol::Segment> to, std::uint64_t length) {
  LaneIn* lane = lane_from({nic, endpoint});
  if (!lane || !lane->readable || !lane->regions[region]) return false;
  const Region& memory = *lane->regions[region];
  if (memory.generation != generation) return false;
  // The two lists need not be cut alike; the kernel takes both.
  constexpr std::size_t kPieces = 256;
  constexpr std::uint64_t kAtOnce = 1U << 30;  // one call moves less than 2 GiB
  std::uint64_t done = 0;
  while (done < length) {
    iovec here[kPieces], there[kPieces];
    const auto cut = [](auto& list, iovec* out, std::uint64_t from, std::uint64_t most, auto base,
                        auto size) {
      std::size_t count = 0;
      for (const auto& piece : list) {
        const std::uint64_t bytes = size(piece);
        if (from >= bytes) {
          from -= bytes;
          continue;
        }
        const std::uint64_t part = std::min(bytes - from, most);
        if (part == 0 || count == kPieces) break;
        out[count++] = {base(piece) + from, part};
        most -= part;
        from = 0;
      }
      return count;
    };
    const std::uint64_t most = std::min(length - done, kAtOnce);
    const std::size_t n = cut(
        to, here, done, most, [](const protocol::Segment& s) { return s.base; },
        [](const protocol::Segment& s) { return std::uint64_t{s.length}; });
    const std::size_t m = cut(
        memory.memory, there, offset + done, most,
        [](const iovec& v) { return static_cast<std::byte*>(v.iov_base); },
        [](const iovec& v) { return std::uint64_t{v.iov_len}; });
    const ssize_t got = ::process_vm_readv(lane->pid, here, n, there, m, 0);
    if (got <= 0) return false;
    done += static_cast<std::uint64_t>(got);
  }
  counters_.direct_reads++;
  counters_.direct_bytes += length;
  return true;
}

}  // namespace omx::local
