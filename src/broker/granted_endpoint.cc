// SPDX-License-Identifier: BSD-3-Clause
#include "broker/granted_endpoint.h"

#include <fmt/format.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

// The endpoint's lock is held meanwhile, and the endpoint can do without these sockets.
constexpr std::chrono::milliseconds kBriefly{200};
constexpr std::uint32_t kSlotsMost = 1U << 20;
constexpr std::uint64_t kRingBytesMost = 1U << 30;

std::size_t page_bytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Returns whether a ring of this geometry can be walked.
bool sound(const link::RingGeometry& ring) {
  const std::uint64_t in_block = std::uint64_t{ring.slot_bytes} * ring.slots_per_block;
  return ring.slot_bytes >= TPACKET2_HDRLEN && ring.slot_bytes % TPACKET_ALIGNMENT == 0 &&
         ring.slots_per_block > 0 && in_block <= ring.block_bytes && ring.blocks > 0 &&
         std::uint64_t{ring.blocks} * ring.slots_per_block <= kSlotsMost &&
         std::uint64_t{ring.blocks} * ring.block_bytes <= kRingBytesMost;
}

bool is_packet_socket(const OwnFd& socket) {
  int domain = 0;
  socklen_t length = sizeof domain;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_PACKET;
}

tl::unexpected<Failure> lies(const std::string& what) {
  return fail(
      link::kFailure,
      fmt::format("the broker granted {}; install the same version of open-mx and open-mx-broker", what));
}

ClassWord word_of(std::optional<link::FrameClass> frames) {
  if (!frames) return ClassWord::none;
  switch (*frames) {
    case link::FrameClass::all:
      return ClassWord::all;
    case link::FrameClass::eager:
      return ClassWord::eager;
    case link::FrameClass::bulk:
      return ClassWord::bulk;
    case link::FrameClass::solicited:
      return ClassWord::solicited;
  }
  return ClassWord::none;
}

}  // namespace

Request GrantedEndpoint::request(Kind kind) const {
  Request request = request_of(kind, wish_.interface);
  request.endpoint = wish_.endpoint;
  request.ring_frames = wish_.ring_frames;
  request.ring_bytes = wish_.ring_bytes;
  request.cookie = cookie_;
  return request;
}

Result<link::GrantedSockets::Data> GrantedEndpoint::data() {
  const auto until = Connection::in(classes_ ? kBriefly : kStartPatience);
  std::optional<Connection> fresh;
  if (state_ != State::held || !connection_->alive() || connection_->owes()) {
    auto connection = Connection::open(wish_.path, until);
    if (!connection) return tl::unexpected(connection.error());
    fresh = std::move(*connection);
  }
  auto reply = (fresh ? *fresh : *connection_).ask(request(Kind::open), until);
  if (!reply) return tl::unexpected(reply.error());
  if (reply->descriptors.size() != 2) return lies("an endpoint without sockets");
  Data data;
  data.socket = std::move(reply->descriptors[0]);
  const Answer& answer = reply->answer;
  data.ring = {answer.slot_bytes, answer.block_bytes, answer.blocks, answer.slots_per_block};
  if (!is_packet_socket(data.socket)) return lies("something that is no packet socket");
  if (!sound(data.ring))
    return lies(fmt::format("a ring that cannot be: {} blocks of {} bytes with {} slots of {} bytes",
                            data.ring.blocks, data.ring.block_bytes, data.ring.slots_per_block,
                            data.ring.slot_bytes));
  classes_unmap();
  if (const int error = classes_map(reply->descriptors[1]))
    return fail(link::kNoResources, fmt::format("cannot map the classes of a granted socket: {}; raise the "
                                                "limit of memory (ulimit -v)",
                                                std::strerror(error)));
  if (fresh) connection_ = std::move(fresh);
  state_ = State::held;
  socklen_t length = sizeof cookie_;
  if (::getsockopt(data.socket.get(), SOL_SOCKET, SO_COOKIE, &cookie_, &length) < 0) cookie_ = 0;
  take(Socket::data, link::FrameClass::all);
  return data;
}

// Nothing is known of the grant until a broker answers.
void GrantedEndpoint::lose(const Failure& why) {
  log(LogLevel::info, "{}", why.message);
  connection_.reset();
  state_ = State::unknown;
  look_at_ = Connection::in(look_pause_);
}

// Asks a broker that started meanwhile to take the grant up.
void GrantedEndpoint::ask_again() {
  const auto now = std::chrono::steady_clock::now();
  if (now < look_at_) return;
  auto connection = Connection::open(wish_.path, now);
  if (!connection) return lose(connection.error());
  // The broker may have refused already, and ended the connection.
  if (!connection->send(request(Kind::attach)) && !connection->readable())
    return lose({link::kFailure, "the broker takes no request; see its log (journalctl -u omxd)"});
  connection_ = std::move(*connection);
  state_ = State::asked;
}

void GrantedEndpoint::answer_look() {
  if (!connection_->readable()) return;
  const auto taken_up = connection_->take(Kind::attach);
  if (taken_up) {
    state_ = State::held;
    return;
  }
  const int code = taken_up.error().mx_code;
  lose(taken_up.error());
  if (code == kNoGrant || code == link::kNoPermission) state_ = State::revoked;
}

GrantedEndpoint::State GrantedEndpoint::look() {
  if (state_ == State::held && !connection_->alive()) {
    connection_.reset();
    state_ = State::unknown;
  }
  if (state_ == State::asked)
    answer_look();
  else if (state_ == State::unknown)
    ask_again();
  return state_;
}

bool GrantedEndpoint::withdrawn() {
  return classes_ && look() == State::revoked;
}

OwnFd GrantedEndpoint::another(SocketKind kind) {
  if (!classes_ || look() != State::held) return {};
  Request wanted = request(Kind::socket);
  wanted.socket = static_cast<std::uint32_t>(kind);
  auto reply = connection_->ask(wanted, Connection::in(kBriefly));
  if (!reply) {
    log(LogLevel::info, "{}", reply.error().message);
    return {};
  }
  if (reply->descriptors.size() != 1 || !is_packet_socket(reply->descriptors[0])) return {};
  return std::move(reply->descriptors[0]);
}

void GrantedEndpoint::take(Socket socket, std::optional<link::FrameClass> frames) {
  if (!classes_) return;
  std::uint32_t& word = socket == Socket::data   ? classes_->data
                        : socket == Socket::bulk ? classes_->bulk
                                                 : classes_->wakeup;
  __atomic_store_n(&word, static_cast<std::uint32_t>(word_of(frames)), __ATOMIC_RELEASE);
}

int GrantedEndpoint::classes_map(const OwnFd& map) {
  assert(!classes_);
  void* const memory = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, map.get(), 0);
  if (memory == MAP_FAILED) return errno;
  ::madvise(memory, page_bytes(), MADV_DONTFORK);
  classes_ = static_cast<Classes*>(memory);
  return 0;
}

void GrantedEndpoint::classes_unmap() {
  // A forked child never had the mapping.
  if (classes_ && !mark_.forked()) ::munmap(classes_, page_bytes());
  classes_ = nullptr;
}

}  // namespace omx::broker
