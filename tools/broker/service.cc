// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/service.h"

#include <linux/rtnetlink.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "netdev/open_failure.h"
#include "tools/broker/listener.h"
#include "tools/broker/policy_file.h"

namespace omx::broker {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kRest = kSecond / 10;      // after a shortage
constexpr std::int64_t kHookPause = 5 * kSecond;  // between looks at the egress programs
constexpr unsigned kAcceptsAtOnce = 16;
// A process that dies closes its sockets a moment after its connection.
constexpr std::int64_t kSweepFirst = kSecond / 10, kSweepMost = 60 * kSecond;

std::int64_t now_ns() {
  return static_cast<std::int64_t>(clock_now());
}

}  // namespace

bool Service::watch(int fd, Source source, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = tag(source, number);
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

Result<void> Service::open() {
  epoll_ = OwnFd(::epoll_create1(EPOLL_CLOEXEC));
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  signals_ = OwnFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  links_ = OwnFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (!epoll_.open() || !signals_.open() || !links_.open() ||
      ::bind(links_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
      !watch(listener_.get(), Source::listener) || !watch(signals_.get(), Source::signals) ||
      !watch(links_.get(), Source::links))
    return tl::unexpected(link::open_failure("the broker's loop", errno));
  descriptors_refuse(listener_.get());
  boards_watch();
  orphans_watch();
  return {};
}

// Voices are opened again when a NIC comes back. A closed descriptor has left the epoll set by itself, and
// one that is watched already is left as it is.
void Service::boards_watch() {
  for (const auto& board : state_.boards)
    if (board->voice()) watch(board->voice()->descriptor(), Source::voice, board->plan().number);
}

void Service::orphans_watch() {
  for (const auto& [slot, grant] : state_.grants.all())
    if (grant.process.open()) watch(grant.process.get(), Source::orphan, grant.serial);
}

void Service::named(std::uint32_t board, const BoardVoice::Name& name) {
  Answer answer;
  answer.nic = name.nic;
  answer.by_broker = name.by_broker ? 1 : 0;
  text_store(answer.text, name.name);
  for (const auto& [id, client] : clients_) {
    if (client->listens == board) answer_send(*client, Kind::name, answer);
  }
}

// Logs what a user did wrong, once in a while.
void Service::complain(const User& user, std::string_view what) {
  if (state_.paces[user.uid].complaint(now_ns())) log(LogLevel::warn, "user {}: {}", user_text(user), what);
}

// Stops accepting for a moment, because descriptors or memory are short.
void Service::listener_rest() {
  const int error = errno;
  if (listen_at_ == 0) {
    log(LogLevel::error, "no connection can be accepted: {}; raise LimitNOFILE of omxd.service",
        std::strerror(error));
    unwatch(listener_.get());
  }
  listen_at_ = now_ns() + kRest;
}

void Service::accept_some() {
  // Clients that wait longer are accepted in the next turn of the loop.
  for (unsigned i = 0; i < kAcceptsAtOnce; i++) {
    OwnFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) listener_rest();
      return;
    }
    client_accept(std::move(socket));
  }
}

// Adds what the databases know of a user. They may be slow, and a user may have many ids (/etc/subuid), so
// that takes a part of the broker's time only. Returns false when that is used up: the client waits then,
// because limits of groups must hold.
bool Service::account_find(User& user) {
  constexpr std::size_t kSeenMost = 65536;
  auto& seen = state_.accounts_seen;
  auto known = seen.find(user.uid);
  if (known == seen.end()) {
    const std::int64_t from = now_ns();
    if (state_.lookups.readable_at() > from) return false;
    if (seen.size() >= kSeenMost) seen.clear();
    known = seen.emplace(user.uid, state_.accounts.user(user.uid)).first;
    state_.lookups.charge(from, now_ns() - from);
  }
  user.name = known->second.name;
  user.account_gids = known->second.gids;
  return true;
}

bool Service::client_accept(OwnFd socket) {
  const std::int64_t from = now_ns();
  descriptors_refuse(socket.get());
  senders_ask(socket.get());
  auto client = std::make_unique<Client>();
  client->socket = std::move(socket);
  client->since = from;
  if (!client_identify(*client)) return false;
  client->known = account_find(client->user);
  const User& user = client->user;
  Pace& pace = state_.paces[user.uid];
  if (auto taken = state_.quota.take(user, {0, 0, 1}, state_.policy.limits_of(user)); !taken) {
    complain(user, taken.error().message);
    refusal_send(*client, Kind::boards, taken.error());
    ::shutdown(client->socket.get(), SHUT_RDWR);
    if (descriptors_left(client->socket)) disposal_.close_refused(std::move(client->socket));
    pace.charge(from, now_ns() - from);
    return false;
  }
  client->id = ++last_id_;
  const int fd = client->socket.get();
  const ConnectionId id = client->id;
  pace.charge(from, now_ns() - from);
  client->paused = !client->known;
  const bool waits = client->paused;
  clients_[id] = std::move(client);
  if (waits || watch(fd, Source::client, id)) return true;
  client_end(id);
  return false;
}

void Service::client_end(ConnectionId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  requests_.leave(*found->second);
  OwnFd socket = std::move(found->second->socket);
  const uid_t uid = found->second->user.uid;
  clients_.erase(found);
  unwatch(socket.get());
  ::shutdown(socket.get(), SHUT_RDWR);
  if (descriptors_left(socket)) {
    disposal_.close(uid, std::move(socket));
  } else {
    socket.reset();
    state_.quota.give(uid, {0, 0, 1});
  }
  if (state_.grants.kept().empty()) return;
  sweep_pause_ = kSweepFirst;
  sweep_at_ = now_ns() + sweep_pause_;
}

void Service::client_read(Client& client) {
  Pace& pace = state_.paces[client.user.uid];
  const std::int64_t from = now_ns();
  if (pace.readable_at() > from) {
    unwatch(client.socket.get());
    client.paused = true;
    return;
  }
  client_turn(client);
  pace.charge(from, now_ns() - from);
}

void Service::client_turn(Client& client) {
  const auto incoming = request_take(client);
  if (!incoming) return;
  if (incoming->hostile) {
    complain(client.user, "sent descriptors, which no library does");
    return client_end(client.id);
  }
  if (incoming->ended) return client_end(client.id);
  Request request;
  const std::string objection = request_read(incoming->packet, request);
  if (!objection.empty()) {
    complain(client.user, objection);
    refusal_send(client, static_cast<Kind>(request.head.kind), {link::kFailure, objection});
    return client_end(client.id);
  }
  client.asked = true;
  requests_.answer(client, request);
}

void Service::policy_read() {
  auto policy = policy_load(policy_file_, state_.accounts);
  if (!policy) {
    log(LogLevel::error, "{}; the former policy stays in force", policy.error().message);
    return;
  }
  // The socket stays where it is.
  policy->socket.path = state_.policy.socket.path;
  if (auto set = listener_rights_set(listener_.get(), *policy); !set)
    log(LogLevel::error, "{}", set.error().message);
  state_.accounts_seen.clear();
  for (const ConnectionId id : requests_.policy_set(std::move(*policy))) client_end(id);
  boards_watch();
  orphans_watch();
  log(LogLevel::summary, "the policy was read again from {}", state_.policy.file);
}

void Service::signal_read() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGHUP)
      policy_read();
    else
      ends_ = true;
  }
}

void Service::links_read() {
  // The change itself is read from the boards' interfaces. A message that was lost (ENOBUFS) counts as one,
  // too.
  std::array<char, 8192> drain;
  while (::recv(links_.get(), drain.data(), drain.size(), MSG_DONTWAIT) > 0) {
  }
  requests_.boards_refresh();
  boards_watch();
  orphans_watch();
}

void Service::orphan_end(std::uint64_t serial) {
  const auto& grants = state_.grants.all();
  const auto grant = std::ranges::find_if(grants, [=](const auto& g) { return g.second.serial == serial; });
  // The descriptor of a grant that was attached is closed, and comes no more.
  if (grant != grants.end() && grant->second.process.open())
    requests_.end(grant->second, "its process ended");
}

void Service::event(std::uint64_t concerned) {
  const std::uint64_t number = concerned & ((std::uint64_t{1} << 56) - 1);
  switch (static_cast<Source>(concerned >> 56)) {
    case Source::listener:
      return accept_some();
    case Source::signals:
      return signal_read();
    case Source::links:
      return links_read();
    case Source::voice:
      if (number < state_.boards.size() && state_.boards[number]->voice())
        state_.boards[number]->voice()->receive();
      return;
    case Source::client:
      if (const auto client = clients_.find(number); client != clients_.end()) client_read(*client->second);
      return;
    case Source::orphan:
      return orphan_end(number);
  }
}

void Service::due(std::int64_t now) {
  for (const uid_t uid : disposal_.done()) state_.quota.give(uid, {0, 0, 1});
  if (listen_at_ != 0 && now >= listen_at_) {
    listen_at_ = 0;
    watch(listener_.get(), Source::listener);
  }
  std::vector<ConnectionId> silent;
  const std::int64_t patience = std::int64_t{state_.policy.request_timeout_ms} * 1'000'000;
  for (const auto& [id, client] : clients_) {
    if (!client->asked && now - client->since >= patience) silent.push_back(id);
    if (!client->known) client->known = account_find(client->user);
    if (client->paused && client->known && state_.paces[client->user.uid].readable_at() <= now)
      client->paused = !watch(client->socket.get(), Source::client, id);
  }
  for (const ConnectionId id : silent) client_end(id);
  if (now >= hooks_at_) {
    for (const auto& board : state_.boards) board->hook_check();
    hooks_at_ = now + kHookPause;
  }
  if (sweep_at_ == 0 || now < sweep_at_) return;
  sweep_pause_ = std::min(2 * sweep_pause_, kSweepMost);
  sweep_at_ = requests_.kept_forget() > 0 ? now + sweep_pause_ : 0;
}

std::int64_t Service::next_due(std::int64_t now) const {
  std::int64_t next = sweep_at_ == 0 ? kNever : sweep_at_;
  // Without grants no one can send, so an idle broker sleeps.
  if (!state_.grants.all().empty()) next = std::min(next, hooks_at_);
  if (listen_at_ != 0) next = std::min(next, listen_at_);
  if (!disposal_.empty()) next = std::min(next, now + kRest);
  const std::int64_t patience = std::int64_t{state_.policy.request_timeout_ms} * 1'000'000;
  for (const auto& [id, client] : clients_) {
    if (!client->asked) next = std::min(next, client->since + patience);
    if (!client->known) next = std::min(next, state_.lookups.readable_at());
    if (const auto pace = state_.paces.find(client->user.uid);
        client->paused && client->known && pace != state_.paces.end())
      next = std::min(next, pace->second.readable_at());
  }
  return next == kNever ? kNever : std::max(next, now);
}

void Service::run() {
  std::array<epoll_event, 64> events;
  while (!ends_) {
    const std::int64_t now = now_ns();
    due(now);
    const std::int64_t next = next_due(now);
    // Rounds up, so that the loop does not spin before a deadline.
    const int timeout =
        next == kNever ? -1 : static_cast<int>(std::min<std::int64_t>((next - now) / 1'000'000 + 1, 60'000));
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    for (int i = 0; i < count && !ends_; i++) event(events[static_cast<std::size_t>(i)].data.u64);
  }
}

}  // namespace omx::broker
