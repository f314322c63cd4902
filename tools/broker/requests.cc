// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/requests.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mac.h"
#include "base/text.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"
#include "tools/broker/boards.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/sealed_socket.h"
#include "tools/broker/set_up.h"
#include "wire/sizes.h"

namespace omx::broker {

namespace {

constexpr std::uint32_t kRingFramesMost = 65536;
constexpr std::uint32_t kRingBytesMost = 256U << 20;

std::string place_text(const ServedBoard& board, std::uint8_t endpoint) {
  return fmt::format("endpoint {} of {}", endpoint, board.name());
}

// The kernel charges up to twice the size of a buffer.
constexpr std::uint64_t kBulkBytes = std::uint64_t{2} * link::kBulkBuffer;
constexpr std::uint64_t kWakeupBytes = 8192;

// Returns the memory of a data socket: its ring, and its send buffer.
std::uint64_t data_bytes(const link::RingGeometry& ring) {
  return ring.bytes() + kSendBytes;
}

// Returns the bytes of the largest frame, Ethernet header included.
std::uint32_t frame_most(const ServedBoard& board) {
  return board.state().mtu + static_cast<std::uint32_t>(wire::kEthernetHeader);
}

BoardRecord record_of(const ServedBoard& board, Mode mode) {
  BoardRecord record;
  text_store(record.interface, board.name());
  text_store(record.hostname, board.plan().hostname);
  record.nic = board.nic();
  record.mac = board.plan().choice.interface.nic;
  record.ifindex = board.nic_index();
  record.mtu = board.state().mtu;
  record.flags = (mode == Mode::trusted ? kBoardTrusted : 0U) | (board.state().up ? kBoardUp : 0U) |
                 (board.state().running ? kBoardRunning : 0U);
  return record;
}

}  // namespace

void Requests::answer(Client& client, const Request& request) {
  const auto kind = static_cast<Kind>(request.head.kind);
  Result<void> done;
  switch (kind) {
    case Kind::boards:
      return boards(client);
    case Kind::open:
      done = open(client, request);
      break;
    case Kind::socket:
      done = socket(client, request);
      break;
    case Kind::attach:
      done = attach(client, request);
      break;
    case Kind::ask:
      done = ask(client, request);
      break;
    case Kind::name:
      break;
  }
  if (!done) refusal_send(client, kind, done.error());
}

void Requests::boards(const Client& client) {
  std::vector<BoardRecord> records;
  std::string refusal;
  for (const auto& board : state_.boards) {
    if (board->retired()) continue;
    const auto mode = state_.policy.may(client.user, board->plan().choice, board->plan().mode);
    if (mode && records.size() < kBoardsMost)
      records.push_back(record_of(*board, *mode));
    else if (!mode)
      refusal = mode.error().message;
  }
  if (records.empty()) {
    if (refusal.empty())
      refusal = "the broker of this host serves no board; see its log (journalctl -u omxd)";
    return refusal_send(client, Kind::boards, {link::kNoPermission, refusal});
  }
  Answer answer;
  answer_send(client, Kind::boards, answer, records);
}

Result<ServedBoard*> Requests::board_of(const Client& client, const Request& request) const {
  const std::string name = text_load(request.interface);
  ServedBoard* const board = state_.board_named(name);
  if (!board)
    return fail(link::kBoardUnknown, fmt::format("the broker of this host serves no board {}", shown(name)));
  if (const auto mode = state_.policy.may(client.user, board->plan().choice, board->plan().mode); !mode)
    return tl::unexpected(mode.error());
  return board;
}

// Takes what a user may still hold. Sockets that were closed meanwhile count no more.
Result<void> Requests::quota_take(const User& user, const Holding& more) {
  const Limits limits = state_.policy.limits_of(user);
  if (state_.quota.take(user, more, limits)) return {};
  kept_forget();
  return state_.quota.take(user, more, limits);
}

// Takes what a grant needs that replaces another one, whose socket its process still has. Changes nothing if
// that is refused.
Result<void> Requests::quota_exchange(const GrantEntry& former, const Holding& more) {
  const Holding less{1, former.bytes};
  state_.quota.give(former.user.uid, less);
  auto taken = quota_take(former.user, more);
  if (!taken) state_.quota.hold(former.user.uid, less);
  return taken;
}

Result<Grant> Requests::grant_of(const Client& client, const ServedBoard& board, std::uint8_t endpoint,
                                 const ServedBoard::DataSocket& made) {
  Grant grant;
  grant.cookie = made.cookie;
  mac_store(std::as_writable_bytes(std::span(grant.mac)).data(), board.nic());
  grant.endpoint = endpoint;
  grant.max_frame = frame_most(board);
  grant.uid = client.user.uid;
  grant.pid = static_cast<std::uint32_t>(client.pid);
  grant.ifindex = board.nic_index();
  const auto rate = state_.rates.set(client.user.uid, state_.policy.limits_of(client.user).rate);
  if (!rate) return tl::unexpected(rate.error());
  grant.user = *rate;
  grant.classes = ebpf_map_id(made.classes.get());
  grant.started = client.started;
  if (grant.classes == 0) return fail(link::kFailure, "the kernel does not tell the number of a BPF map");
  return grant;
}

Result<void> Requests::open(Client& client, const Request& request) {
  auto found = board_of(client, request);
  if (!found) return tl::unexpected(found.error());
  ServedBoard& board = **found;
  const std::uint32_t number = board.plan().number;
  const auto endpoint = static_cast<std::uint8_t>(request.endpoint);
  const GrantEntry* const own = state_.grants.of_connection(client.id);
  if (own && (own->board != number || own->endpoint != endpoint))
    return fail(link::kFailure, "this connection holds another endpoint; use one connection for each");
  const GrantEntry* const former = state_.grants.find(number, endpoint);
  if (former && !former->belongs_to(client.user.uid, client.pid, client.started))
    return fail(link::kBusy, fmt::format("{} is held by process {} of user {}", place_text(board, endpoint),
                                         former->pid, user_text(former->user)));
  const link::RingGeometry ring = link::ring_geometry(
      board.state().mtu, std::clamp(request.ring_frames, link::kRingMinSlots, kRingFramesMost),
      std::min(request.ring_bytes, kRingBytesMost));
  // A library opens an endpoint again when the MTU has grown, and has both sockets for a moment. So one
  // former socket is free of charge.
  if (former && state_.grants.has_replaced(number, endpoint)) kept_forget();
  const bool exchanged = former && !state_.grants.has_replaced(number, endpoint);
  const Holding more{1, data_bytes(ring), 0, 1};
  auto taken = exchanged ? quota_exchange(*former, more) : quota_take(client.user, more);
  if (!taken) return taken;
  auto done = grant_make(client, board, endpoint, ring, {former, exchanged});
  if (!done) {
    // The former grant, if there is one, goes on.
    state_.quota.give(client.user.uid, more);
    const GrantEntry* const still = exchanged ? state_.grants.find(number, endpoint) : nullptr;
    if (still) state_.quota.hold(client.user.uid, {1, still->bytes});
  }
  return done;
}

// Takes a map that the filters of an endpoint's sockets read.
Result<OwnFd> Requests::classes_take(uid_t uid) {
  OwnFd classes = state_.spare_classes.take(uid);
  if (!classes.open()) return classes_make();
  const Classes none;
  if (const int error = ebpf_array_write(classes.get(), 0, &none))
    return fail(link::kFailure, fmt::format("a BPF map cannot be cleared: {}", std::strerror(error)));
  return classes;
}

// Makes the sockets and the grant. The former grant of the endpoint ends once that has succeeded.
Result<void> Requests::grant_make(const Client& client, ServedBoard& board, std::uint8_t endpoint,
                                  const link::RingGeometry& ring, const Former& former) {
  const auto slot = state_.grants.slot_find();
  if (!slot) return fail(link::kNoResources, "the broker has no slot left; close endpoints on this host");
  SocketPlace place;
  place.slot = *slot;
  auto classes = classes_take(client.user.uid);
  if (!classes) return tl::unexpected(classes.error());
  auto made = board.data_make(place, ring, std::move(*classes));
  if (!made) return tl::unexpected(made.error());
  const auto grant = grant_of(client, board, endpoint, *made);
  if (!grant) return tl::unexpected(grant.error());
  if (former.grant) end(*former.grant, "replaced", former.exchanged ? Ending::exchanged : Ending::replaced);
  grant_counters_clear(state_.maps, *slot);
  if (const int error = grant_write(state_.maps, *slot, *grant))
    return fail(link::kFailure, fmt::format("a grant cannot be written: {}", std::strerror(error)));
  Answer answer;
  answer.slot_bytes = ring.slot_bytes;
  answer.block_bytes = ring.block_bytes;
  answer.blocks = ring.blocks;
  answer.slots_per_block = ring.slots_per_block;
  answer.nic = board.nic();
  const std::array<int, 2> descriptors{made->socket.get(), made->classes.get()};
  const bool sent = answer_send(client, Kind::open, answer, {}, descriptors);
  GrantEntry entry;
  entry.slot = *slot;
  entry.board = board.plan().number;
  entry.endpoint = endpoint;
  entry.user = client.user;
  entry.pid = client.pid;
  entry.started = client.started;
  entry.cookie = made->cookie;
  entry.bytes = data_bytes(ring);
  entry.connection = client.id;
  entry.classes = std::move(made->classes);
  const GrantEntry& held = state_.grants.add(std::move(entry));
  log(LogLevel::summary, "grant: user {} process {} {} ({})", user_text(client.user), client.pid,
      place_text(board, endpoint), mode_name(board.plan().mode));
  if (!sent) end(held, "its process does not read");
  return {};
}

// Returns whether a socket of the grant's board is still open in some process.
bool Requests::still_there(const GrantEntry& grant, std::uint64_t cookie) const {
  const auto living = state_.boards[grant.board]->sockets_living();
  return !living || std::ranges::find(*living, cookie) != living->end();
}

Result<void> Requests::socket(const Client& client, const Request& request) {
  GrantEntry* const grant = state_.grants.of_connection(client.id);
  if (!grant || !grant->classes.open())
    return fail(link::kFailure, "this connection has no endpoint open; open one first");
  const auto kind = static_cast<SocketKind>(request.socket);
  if (kind != SocketKind::bulk && kind != SocketKind::wakeup)
    return fail(link::kFailure, fmt::format("there is no socket of kind {}", request.socket));
  // Each socket on a board costs all frames of the board some time, so an endpoint has one of each kind.
  const auto former = std::ranges::find(grant->beside, kind, &BesideSocket::kind);
  if (former != grant->beside.end()) {
    if (still_there(*grant, former->cookie))
      return fail(link::kBusy, "this endpoint has such a socket already; close it first");
    state_.quota.give(client.user.uid, {0, former->bytes, 0, 1});
    grant->beside.erase(former);
  }
  const Holding more{0, kind == SocketKind::bulk ? kBulkBytes : kWakeupBytes, 0, 1};
  if (auto taken = quota_take(client.user, more); !taken) return taken;
  SocketPlace place;
  place.slot = grant->slot;
  place.cookie = grant->cookie;
  place.classes = grant->classes.get();
  auto made = state_.boards[grant->board]->beside_make(place, kind);
  const auto cookie = made ? socket_cookie(made->get()) : tl::unexpected(made.error());
  if (!cookie) {
    state_.quota.give(client.user.uid, more);
    return tl::unexpected(cookie.error());
  }
  grant->beside.push_back({kind, *cookie, more.memory});
  Answer answer;
  const int fd = made->get();
  answer_send(client, Kind::socket, answer, {}, std::span(&fd, 1));
  return {};
}

Result<void> Requests::attach(const Client& client, const Request& request) {
  auto found = board_of(client, request);
  if (!found) return tl::unexpected(found.error());
  if (state_.grants.of_connection(client.id))
    return fail(link::kFailure, "this connection holds another endpoint; use one connection for each");
  GrantEntry* const grant =
      state_.grants.find((*found)->plan().number, static_cast<std::uint8_t>(request.endpoint));
  if (!grant || grant->connection != kNoConnection || grant->cookie != request.cookie ||
      !grant->belongs_to(client.user.uid, client.pid, client.started))
    return fail(kNoGrant, "this process has no such grant; open the endpoint again");
  Grant noted;
  if (grant_read(state_.maps, grant->slot, noted) == 0)
    grant->classes = ebpf_array_by_id(noted.classes, sizeof(Classes));
  grant->connection = client.id;
  grant->process.reset();
  Answer answer;
  answer_send(client, Kind::attach, answer);
  return {};
}

Result<void> Requests::ask(Client& client, const Request& request) {
  auto found = board_of(client, request);
  if (!found) return tl::unexpected(found.error());
  BoardVoice* const voice = (*found)->voice();
  if (!voice) return fail(link::kNoDevice, fmt::format("{} is gone", (*found)->name()));
  client.listens = (*found)->plan().number;
  // A library repeats its questions, so one too many is not missed.
  if (!state_.paces[client.user.uid].question(static_cast<std::int64_t>(clock_now()))) return {};
  voice->ask(request.nic);
  // Each serial makes every legacy host broadcast for some seconds, so this is done only if the first
  // question did not help.
  std::uint32_t serial = 0;
  if (++client.questions == 2 && ::getrandom(&serial, sizeof serial, GRND_NONBLOCK) == sizeof serial)
    voice->announce(serial, static_cast<std::int64_t>(clock_now()));
  return {};
}

void Requests::end(const GrantEntry& grant, std::string_view why, Ending ending) {
  if (const int error = grant_clear(state_.maps, grant.slot))
    log(LogLevel::error, "the grant of process {} cannot be revoked: {}", grant.pid, std::strerror(error));
  GrantCounters counts;
  grant_counters_read(state_.maps, grant.slot, counts);
  const std::uint64_t dropped = counts.not_allowed();
  log(dropped > 0 ? LogLevel::warn : LogLevel::summary,
      "end: user {} process {} {}: {}; {} frames sent, {} not allowed, {} too fast", user_text(grant.user),
      grant.pid, place_text(*state_.boards[grant.board], grant.endpoint), why, counts.frames, dropped,
      counts.too_fast);
  const uid_t uid = grant.user.uid;
  state_.grants.end(grant, ending == Ending::exchanged);
  if (ending == Ending::for_good && !state_.grants.has_user(uid)) state_.rates.give(uid);
}

void Requests::leave(const Client& client) {
  while (const GrantEntry* const grant = state_.grants.of_connection(client.id)) end(*grant, "closed");
}

std::size_t Requests::kept_forget() {
  for (const auto& board : state_.boards) {
    const auto living = board->sockets_living();
    if (!living) continue;
    for (KeptSocket& socket : state_.grants.forget(board->plan().number, *living)) {
      state_.quota.give(socket.uid, {socket.endpoints, socket.bytes, 0, 1});
      if (socket.classes.open()) state_.spare_classes.put(socket.uid, std::move(socket.classes));
    }
  }
  return state_.grants.kept().size();
}

void Requests::boards_refresh() {
  for (const auto& board : state_.boards) {
    const std::uint32_t former = board->state().mtu;
    if (board->retired() || !board->refresh() || board->state().mtu == former) continue;
    for (const auto& [slot, entry] : state_.grants.all()) {
      Grant grant;
      if (entry.board != board->plan().number || grant_read(state_.maps, slot, grant) != 0) continue;
      grant.max_frame = frame_most(*board);
      grant_write(state_.maps, slot, grant);
    }
  }
  boards_appear(state_);
}

std::vector<ConnectionId> Requests::policy_set(Policy policy) {
  state_.policy = std::move(policy);
  state_.quota.total_set(total_of(state_.policy));
  std::vector<std::uint32_t> refused;
  for (const auto& [slot, grant] : state_.grants.all()) {
    const ServedBoard::Plan& plan = state_.boards[grant.board]->plan();
    const auto number = state_.rates.set(grant.user.uid, state_.policy.limits_of(grant.user).rate);
    if (!number) log(LogLevel::error, "{}", number.error().message);
    if (!number || !state_.policy.may(grant.user, plan.choice, plan.mode)) {
      refused.push_back(slot);
      continue;
    }
    Grant noted;
    if (grant_read(state_.maps, slot, noted) != 0 || noted.user == *number) continue;
    noted.user = *number;
    grant_write(state_.maps, slot, noted);
  }
  std::vector<ConnectionId> revoked;
  const auto revoke = [&](std::uint32_t slot, std::string_view why) {
    const GrantEntry& grant = state_.grants.all().at(slot);
    if (grant.connection != kNoConnection) revoked.push_back(grant.connection);
    end(grant, why);
  };
  for (const std::uint32_t slot : refused) revoke(slot, "the policy allows it no more");
  boards_reload(state_, revoke);
  return revoked;
}

}  // namespace omx::broker
