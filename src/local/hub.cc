// SPDX-License-Identifier: BSD-3-Clause
#include "local/hub.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/no_cancel.h"
#include "base/shortage.h"
#include "local/hello.h"
#include "local/memory_access.h"

namespace omx::local {

namespace {

constexpr std::size_t kWaitingMost = 64U << 20;  // the engine's windows keep far below
constexpr std::size_t kEventsAtOnce = 16;
// Whoever connects says at once who it is, so those who have not are few; beyond this the oldest is sent
// away.
constexpr std::size_t kStrangersMost = 64;

// Headers of endpoint packets are longer than what destination_endpoint() needs.
Place destination(std::span<const iovec> frame) {
  const auto* head = static_cast<const std::byte*>(frame[0].iov_base);
  return {mac_load(head), static_cast<std::uint8_t>(wire::destination_endpoint({head, frame[0].iov_len}))};
}

// Who is at the other end. The cable asks for CAP_NET_RAW; here whoever is not us, or root, would come in
// without, and who took an endpoint's name would be sent its messages. False: none of those, or unknown.
bool trusted(const OwnFd& connection, ucred& credentials) {
  socklen_t size = sizeof credentials;
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
         (credentials.uid == ::geteuid() || credentials.uid == 0);
}

// False, with errno: none can be had.
bool descriptor_free() {
  return OwnFd(::epoll_create1(EPOLL_CLOEXEC)).open();
}

}  // namespace

Hub::Hub(HubOptions options) : options_(std::move(options)), poll_(::epoll_create1(EPOLL_CLOEXEC)) {
  listens_ = watch(options_.listener);
}

Hub::~Hub() {
  for (std::size_t i = 0; i < lives_.size() * kLivesAtOnce; i++) region_ended(static_cast<std::uint16_t>(i));
}

// False, with errno, when it cannot be: then it would not wake us.
bool Hub::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  return ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

bool Hub::listener_set(int listener) {
  if (!watch(listener)) return false;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, options_.listener, nullptr);
  options_.listener = listener;
  deaf_ = false;
  return listens_ = true;
}

// --- out ---------------------------------------------------------------------------------------------------

Hub::LaneOut* Hub::lane_to(const Place& to) {
  if (last_out_ && last_out_->to == to) return last_out_;
  for (const auto& lane : out_)
    if (lane->to == to) return last_out_ = lane.get();
  return lane_open(to);
}

Hub::LaneOut* Hub::lane_open(const Place& to) {
  const NoCancel no_cancel;
  OwnFd connection = options_.connect(to);
  if (!connection.open()) return nullptr;
  ucred credentials{};
  if (!trusted(connection, credentials)) {
    refused_listener(to, credentials);
    errno = EACCES;
    return nullptr;
  }
  auto lane = std::make_unique<LaneOut>();
  lane->to = to;
  lane->memory = SharedMemory::create(ring_memory(kRingBytes));
  if (!lane->memory.mapped()) {
    if (errno != EMFILE && errno != ENFILE) errno = ENOMEM;
    return nullptr;
  }
  lane->ring = RingWriter(lane->memory.data(), kRingBytes);
  Hello hello;
  hello.nic = options_.self.nic;
  hello.endpoint = options_.self.endpoint;
  hello.proof_at = proof_address();
  if (!watch(connection.get()) || !hello_send(connection.get(), hello, lane->memory.descriptor()))
    return nullptr;
  lane->memory.descriptor_close();
  lane->connection = std::move(connection);
  out_.push_back(std::move(lane));
  if (!unreached_.empty()) unreached_forget(to);
  return last_out_ = out_.back().get();
}

bool Hub::reach(const Place& to) {
  return lane_to(to) != nullptr;
}

void Hub::unreached_forget(const Place& to) {
  unreached_.erase(std::remove(unreached_.begin(), unreached_.end(), to), unreached_.end());
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
  const int error = errno;
  counters_.frames_dropped++;
  if (error != ECONNREFUSED && error != EACCES) return no_way(destination(frame), error);  // it is sent again
  const auto* head = static_cast<const std::byte*>(frame[0].iov_base);
  refused_.emplace_back(head, head + frame[0].iov_len);
  refused_.back().resize(std::max(refused_.back().size(), wire::kMinFrame));
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
    const NoCancel no_cancel;
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

bool Hub::lane_fill(LaneIn& lane, const OwnFd& connection, const Hello& hello, OwnFd memory) {
  ucred credentials{};
  if (!stays(hello.nic) || !trusted(connection, credentials)) return false;
  errno = 0;
  lane.memory = SharedMemory::adopt(std::move(memory), ring_memory(kRingBytes));
  if (!lane.memory.mapped()) {
    if (errno == ENOMEM) no_room(errno);
    return false;
  }
  lane.memory.descriptor_close();
  lane.ring = RingReader(lane.memory.data(), kRingBytes);
  lane.from = {hello.nic, static_cast<std::uint8_t>(hello.endpoint)};
  lane.pid = credentials.pid;
  lane.readable = memory_readable(lane.pid, hello.proof_at);
  return true;
}

void Hub::lane_adopt(OwnFd connection, const Hello& hello, OwnFd memory) {
  auto lane = std::make_unique<LaneIn>();
  if (!lane_fill(*lane, connection, hello, std::move(memory))) return;
  lane->connection = std::move(connection);
  // A new instance of the peer: the old one is gone, whatever its connection says.
  if (LaneIn* old = lane_from(lane->from)) old->gone = true;
  in_.push_back(std::move(lane));
}

std::size_t Hub::receive_from(LaneIn& lane, Arrivals& arrivals, std::size_t budget) {
  std::size_t frames = 0;
  // All records count: a ring full of rubbish has no end.
  for (std::size_t records = 0; records < budget; records++) {
    const Record record = lane.ring.front();
    if (record.kind == Kind::none) {
      lane.ring.publish_rest();
      break;
    }
    if (record.kind == Kind::regions) region_learn(lane, record.bytes);
    // Nobody speaks for others.
    if (record.kind == Kind::frame && record.bytes.size() >= wire::kMinFrame &&
        mac_load(record.bytes.data() + 6) == lane.from.nic) {
      frames++;
      arrivals.on_local_frame(record.bytes);
    }
    lane.ring.pop();
  }
  lane.ring.publish();
  return frames;
}

std::size_t Hub::receive(Arrivals& arrivals, std::size_t budget) {
  if (backlog_) {
    backlog_ = false;
    stuck_ = true;
    for (const auto& lane : out_) {
      const std::size_t waiting = lane->waiting.size();
      if (!drain(*lane)) backlog_ = true;
      if (lane->waiting.size() < waiting) stuck_ = false;
    }
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

void Hub::strangers_accept() {
  bool deaf = false;
  for (std::size_t i = 0; i < kStrangersMost && !deaf; i++) {
    OwnFd connection(::accept4(options_.listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.open()) {
      deaf = is_shortage(errno);
      if (deaf) no_room(errno);
      break;
    }
    ucred credentials{};
    if (!trusted(connection, credentials))
      refused_stranger(connection, credentials);
    else if (watch(connection.get()))  // what it says may come when we sleep
      strangers_.push_back(std::move(connection));
  }
  if (deaf == deaf_) return;
  // Who waits for us to accept would end every sleep at once.
  epoll_event event{};
  event.events = deaf ? 0U : EPOLLIN;
  event.data.fd = options_.listener;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, options_.listener, &event);
  deaf_ = deaf;
}

void Hub::strangers_hear() {
  strangers_accept();
  for (auto it = strangers_.begin(); it != strangers_.end();) {
    Hello hello;
    OwnFd memory;
    const int heard = hello_receive(it->get(), hello, memory);
    if (heard == 0) {
      ++it;
      continue;
    }
    if (heard > 0)
      lane_adopt(std::move(*it), hello, std::move(memory));
    else if (hello.magic == Hello::kMagic && hello.version != kRingVersion)
      refused_version(*it, hello);
    else if (hello.magic == Hello::kMagic && !memory.open() && !descriptor_free())
      no_room(errno);  // the kernel dropped the descriptor that came with it
    it = strangers_.erase(it);
  }
  if (strangers_.size() > kStrangersMost)
    strangers_.erase(strangers_.begin(),
                     strangers_.begin() + static_cast<std::ptrdiff_t>(strangers_.size() - kStrangersMost));
}

// Bells, which have done their work, or the end of a connection. False: it is no lane's.
bool Hub::lane_hear(int fd) {
  const auto is_it = [&](const auto& lane) { return lane->connection.get() == fd; };
  const auto in = std::find_if(in_.begin(), in_.end(), is_it);
  const auto out = std::find_if(out_.begin(), out_.end(), is_it);
  if (in == in_.end() && out == out_.end()) return false;
  char bells[64];
  const ssize_t got = ::recv(fd, bells, sizeof bells, MSG_DONTWAIT);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return true;
  if (in != in_.end()) (*in)->gone = true;
  if (out != out_.end()) {
    last_out_ = nullptr;
    out_.erase(out);
  }
  return true;
}

void Hub::lanes_end(Arrivals& arrivals) {
  for (std::size_t i = 0; i < in_.size();) {
    LaneIn& lane = *in_[i];
    if (lane.ring.broken()) lane.gone = true;
    if (lane.gone) lane.ends = std::min(lane.ends, lane.ring.position() + kRingBytes);
    const bool read = lane.ring.broken() || !lane.ring.pending() || lane.ring.position() >= lane.ends;
    if (!lane.gone || !read) {
      i++;
      continue;
    }
    const Place peer = lane.from;
    in_.erase(in_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!lane_from(peer)) arrivals.on_local_gone(peer);
  }
}

void Hub::tick(Arrivals& arrivals) {
  const NoCancel no_cancel;
  epoll_event events[kEventsAtOnce];
  const int count = ::epoll_wait(poll_.get(), events, kEventsAtOnce, 0);
  bool strangers = deaf_;
  for (int i = 0; i < count; i++)
    if (!lane_hear(events[i].data.fd)) strangers = true;
  if (strangers) strangers_hear();
  lanes_end(arrivals);
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

}  // namespace omx::local
