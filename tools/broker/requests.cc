// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/requests.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "netdev/open_failure.h"
#include "netdev/socket_buffer.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "wire/sizes.h"

namespace omx::broker {

namespace {

constexpr std::int64_t kUs = 1000;
constexpr std::uint32_t kRingFramesMost = 65536;
constexpr std::uint32_t kRingBytesMost = 256U << 20;

std::string place_text(const ServedBoard& board, std::uint8_t endpoint) {
  return fmt::format("endpoint {} of {}", endpoint, board.name());
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

std::int64_t Requests::cost_ns(Kind kind) {
  return kind == Kind::open || kind == Kind::socket ? 1000 * kUs : 100 * kUs;
}

void Requests::answer(Client& client, const Request& request, std::vector<OwnFd> descriptors) {
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
      done = attach(client, request, std::move(descriptors));
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
    const auto mode = state_.policy.may(client.user, board->plan().choice);
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
  if (const auto mode = state_.policy.may(client.user, board->plan().choice); !mode)
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

// Makes the place free that a process wants, if it has it itself. Another process's place is busy.
Result<void> Requests::place_free(const Client& client, std::uint32_t board, std::uint8_t endpoint) {
  const GrantEntry* const held = state_.grants.find(board, endpoint);
  if (!held) return {};
  if (held->pid != client.pid || held->user.uid != client.user.uid || held->started != client.started)
    return fail(link::kBusy,
                fmt::format("{} is held by process {} of user {}",
                            place_text(*state_.boards[board], endpoint), held->pid, user_text(held->user)));
  end(*held, "replaced");
  return {};
}

// Returns the number of the user's rate in the map of rates; 0 without a limit.
std::uint32_t Requests::rate_number(const User& user) {
  const std::uint64_t rate = state_.policy.limits_of(user).rate;
  const auto known = state_.rate_numbers.find(user.uid);
  std::uint32_t number = known == state_.rate_numbers.end() ? 0 : known->second;
  if (rate == 0 && number == 0) return 0;
  if (number == 0) {
    number = static_cast<std::uint32_t>(state_.rate_numbers.size()) + 1;
    if (number >= kUsers) return kUsers - 1;  // these users share one rate
    state_.rate_numbers[user.uid] = number;
  }
  UserRate limit;
  user_rate_read(state_.maps, number, limit);
  limit.ns_per_kib = rate == 0 ? 0 : 8ULL * 1024 * 1'000'000'000 / rate;
  limit.burst_ns = 10'000'000;
  user_rate_write(state_.maps, number, limit);
  return rate == 0 ? 0 : number;
}

Result<void> Requests::open(Client& client, const Request& request) {
  auto found = board_of(client, request);
  if (!found) return tl::unexpected(found.error());
  ServedBoard& board = **found;
  const std::uint32_t number = board.plan().number;
  const auto endpoint = static_cast<std::uint8_t>(request.endpoint);
  if (const GrantEntry* own = state_.grants.of_connection(client.socket.get());
      own && (own->board != number || own->endpoint != endpoint))
    return fail(link::kFailure, "this connection holds another endpoint; use one connection for each");
  if (auto freed = place_free(client, number, endpoint); !freed) return freed;
  const auto slot = state_.grants.slot_find();
  if (!slot) return fail(link::kNoResources, "the broker has no slot left; close endpoints on this host");

  const link::RingGeometry ring = link::ring_geometry(
      board.state().mtu, std::clamp(request.ring_frames, link::kRingMinSlots, kRingFramesMost),
      std::min(request.ring_bytes, kRingBytesMost));
  const Holding more{1, ring.bytes(), 0};
  if (auto taken = quota_take(client.user, more); !taken) return taken;
  SocketPlace place;
  place.slot = *slot;
  auto made = board.data_make(place, ring);
  if (!made) {
    state_.quota.give(client.user.uid, more);
    return tl::unexpected(made.error());
  }
  Grant grant;
  grant.cookie = made->cookie;
  for (std::size_t i = 0; i < grant.mac.size(); i++)
    grant.mac[i] = static_cast<std::uint8_t>(board.nic() >> (40 - 8 * i));
  grant.endpoint = endpoint;
  grant.max_frame = board.state().mtu + static_cast<std::uint32_t>(wire::kEthernetHeader);
  grant.uid = client.user.uid;
  grant.pid = static_cast<std::uint32_t>(client.pid);
  grant.ifindex = board.nic_index();
  grant.user = rate_number(client.user);
  grant.started = client.started;
  grant_counters_clear(state_.maps, *slot);
  grant_write(state_.maps, *slot, grant);

  Answer answer;
  answer.slot_bytes = ring.slot_bytes;
  answer.block_bytes = ring.block_bytes;
  answer.blocks = ring.blocks;
  answer.slots_per_block = ring.slots_per_block;
  answer.nic = board.nic();
  const std::array<int, 2> descriptors{made->socket.get(), made->classes.get()};
  GrantEntry entry;
  entry.slot = *slot;
  entry.board = number;
  entry.endpoint = endpoint;
  entry.user = client.user;
  entry.pid = client.pid;
  entry.started = client.started;
  entry.cookie = made->cookie;
  entry.bytes = ring.bytes();
  entry.connection = client.socket.get();
  const bool sent = answer_send(client, Kind::open, answer, {}, descriptors);
  entry.classes = std::move(made->classes);
  const GrantEntry& held = state_.grants.add(std::move(entry));
  log(LogLevel::summary, "grant: user {} process {} {} ({})", user_text(client.user), client.pid,
      place_text(board, endpoint), mode_name(board.plan().mode));
  if (!sent) end(held, "its process does not read");
  return {};
}

Result<void> Requests::socket(const Client& client, const Request& request) {
  GrantEntry* const grant = state_.grants.of_connection(client.socket.get());
  if (!grant || !grant->classes.open())
    return fail(link::kFailure, "this connection has no endpoint open; open one first");
  const auto kind = static_cast<SocketKind>(request.socket);
  if (kind != SocketKind::bulk && kind != SocketKind::wakeup)
    return fail(link::kFailure, fmt::format("there is no socket of kind {}", request.socket));
  // The kernel charges up to twice the size of a receive buffer.
  const Holding more{0, kind == SocketKind::bulk ? std::uint64_t{2} * link::kBulkBuffer : 4096U, 0};
  if (auto taken = quota_take(client.user, more); !taken) return taken;
  SocketPlace place;
  place.slot = grant->slot;
  place.cookie = grant->cookie;
  place.classes = grant->classes.get();
  auto made = state_.boards[grant->board]->beside_make(place, kind);
  if (!made) {
    state_.quota.give(client.user.uid, more);
    return tl::unexpected(made.error());
  }
  grant->bytes += more.memory;
  Answer answer;
  const int fd = made->get();
  answer_send(client, Kind::socket, answer, {}, std::span(&fd, 1));
  return {};
}

Result<void> Requests::attach(const Client& client, const Request& request, std::vector<OwnFd> descriptors) {
  auto found = board_of(client, request);
  if (!found) return tl::unexpected(found.error());
  GrantEntry* const grant =
      state_.grants.find((*found)->plan().number, static_cast<std::uint8_t>(request.endpoint));
  if (!grant || grant->connection >= 0 || grant->cookie != request.cookie || grant->pid != client.pid ||
      grant->user.uid != client.user.uid || grant->started != client.started)
    return fail(link::kFailure, "this process has no such grant; open the endpoint again");
  // The map may be any that the process has. It only chooses among the endpoint's own frames.
  if (descriptors.size() != 1 || !ebpf_array_fits(descriptors[0].get(), sizeof(Classes)))
    return fail(link::kFailure, "the classes of the endpoint's sockets are missing; open the endpoint again");
  grant->classes = std::move(descriptors[0]);
  grant->connection = client.socket.get();
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
  voice->ask(request.nic);
  // Each serial makes every legacy host broadcast for some seconds, so this is done only if the first
  // question did not help.
  std::uint32_t serial = 0;
  if (++client.questions == 2 && ::getrandom(&serial, sizeof serial, GRND_NONBLOCK) == sizeof serial)
    voice->announce(serial);
  return {};
}

void Requests::end(const GrantEntry& grant, std::string_view why) {
  grant_clear(state_.maps, grant.slot);
  GrantCounters counts;
  grant_counters_read(state_.maps, grant.slot, counts);
  const std::uint64_t dropped = counts.bad_type + counts.bad_source + counts.bad_endpoint + counts.bad_size;
  log(dropped > 0 ? LogLevel::warn : LogLevel::summary,
      "end: user {} process {} {}: {}; {} frames sent, {} not allowed, {} too fast", user_text(grant.user),
      grant.pid, place_text(*state_.boards[grant.board], grant.endpoint), why, counts.frames, dropped,
      counts.too_fast);
  state_.grants.end(grant);
}

void Requests::leave(const Client& client) {
  if (const GrantEntry* const grant = state_.grants.of_connection(client.socket.get())) end(*grant, "closed");
}

std::size_t Requests::kept_forget() {
  for (const auto& board : state_.boards) {
    const auto living = board->sockets_living();
    if (!living) continue;
    for (const KeptSocket& socket : state_.grants.forget(board->plan().number, *living))
      state_.quota.give(socket.uid, {1, socket.bytes, 0});
  }
  return state_.grants.kept().size();
}

void Requests::boards_refresh() {
  for (const auto& board : state_.boards) {
    const std::uint32_t former = board->state().mtu;
    if (!board->refresh() || board->state().mtu == former) continue;
    for (const auto& [slot, entry] : state_.grants.all()) {
      Grant grant;
      if (entry.board != board->plan().number || grant_read(state_.maps, slot, grant) != 0) continue;
      grant.max_frame = board->state().mtu + static_cast<std::uint32_t>(wire::kEthernetHeader);
      grant_write(state_.maps, slot, grant);
    }
  }
}

void Requests::policy_set(Policy policy) {
  state_.policy = std::move(policy);
  std::vector<std::uint32_t> refused;
  for (const auto& [slot, grant] : state_.grants.all()) {
    if (!state_.policy.may(grant.user, state_.boards[grant.board]->plan().choice)) refused.push_back(slot);
    rate_number(grant.user);
  }
  for (const std::uint32_t slot : refused) {
    const GrantEntry& grant = state_.grants.all().at(slot);
    // The process learns by this that it has nothing any more.
    if (grant.connection >= 0) ::shutdown(grant.connection, SHUT_RDWR);
    end(grant, "the policy allows it no more");
  }
}

}  // namespace omx::broker
