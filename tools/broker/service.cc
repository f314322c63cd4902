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
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "netdev/open_failure.h"
#include "tools/broker/policy_file.h"

namespace omx::broker {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// A process that dies closes its sockets a moment after its connection.
constexpr std::int64_t kSweepFirst = kSecond / 10, kSweepMost = 60 * kSecond;

std::int64_t now_ns() {
  return static_cast<std::int64_t>(clock_now());
}

}  // namespace

bool Service::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
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
      !watch(listener_.get()) || !watch(signals_.get()) || !watch(links_.get()))
    return tl::unexpected(link::open_failure("the broker's loop", errno));
  boards_watch();
  orphans_watch();
  return {};
}

// Voices are opened again when a NIC comes back. A closed descriptor has left the epoll set by itself.
void Service::boards_watch() {
  voices_.clear();
  for (const auto& board : state_.boards) {
    if (!board->voice()) continue;
    const int fd = board->voice()->descriptor();
    voices_[fd] = board->plan().number;
    watch(fd);  // fails with EEXIST for those that are watched
  }
}

void Service::orphans_watch() {
  for (const auto& [slot, grant] : state_.grants.all()) {
    if (!grant.process.open()) continue;
    orphans_[grant.process.get()] = slot;
    watch(grant.process.get());
  }
}

void Service::named(std::uint32_t board, const BoardVoice::Name& name) {
  Answer answer;
  answer.nic = name.nic;
  answer.by_broker = name.by_broker ? 1 : 0;
  text_store(answer.text, name.name);
  for (const auto& [fd, client] : clients_) {
    if (client->listens == board) answer_send(*client, Kind::name, answer);
  }
}

void Service::accept_all() {
  for (;;) {
    OwnFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) return;
    auto client = std::make_unique<Client>();
    client->socket = std::move(socket);
    client->since = now_ns();
    if (!client_identify(*client, state_.accounts, state_.names)) continue;
    const User& user = client->user;
    if (auto taken = state_.quota.take(user, {0, 0, 1}, state_.policy.limits_of(user)); !taken) {
      log(LogLevel::warn, "{}", taken.error().message);
      refusal_send(*client, Kind::boards, taken.error());
      continue;
    }
    const int fd = client->socket.get();
    if (!watch(fd)) {
      state_.quota.give(user.uid, {0, 0, 1});
      continue;
    }
    clients_[fd] = std::move(client);
  }
}

void Service::client_end(int fd) {
  const auto found = clients_.find(fd);
  if (found == clients_.end()) return;
  requests_.leave(*found->second);
  state_.quota.give(found->second->user.uid, {0, 0, 1});
  clients_.erase(found);
  if (state_.grants.kept().empty()) return;
  sweep_pause_ = kSweepFirst;
  sweep_at_ = now_ns() + sweep_pause_;
}

void Service::client_read(Client& client) {
  const int fd = client.socket.get();
  Pace& pace = state_.paces[client.user.uid];
  const std::int64_t now = now_ns();
  if (pace.readable_at() > now) {
    epoll_event event{};
    event.data.fd = fd;
    client.paused = ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0;
    return;
  }
  auto incoming = request_take(client);
  if (!incoming) return;
  if (incoming->ended) return client_end(fd);
  Request request;
  const std::string objection = request_read(incoming->packet, request);
  if (!objection.empty()) {
    log(LogLevel::warn, "user {} process {}: {}", user_text(client.user), client.pid, objection);
    refusal_send(client, static_cast<Kind>(request.head.kind), {link::kFailure, objection});
    return client_end(fd);
  }
  client.asked = true;
  pace.charge(now, Requests::cost_ns(static_cast<Kind>(request.head.kind)));
  requests_.answer(client, request, std::move(incoming->descriptors));
}

void Service::policy_read() {
  auto policy = policy_load(policy_file_, state_.accounts);
  if (!policy) {
    log(LogLevel::error, "{}; the former policy stays in force", policy.error().message);
    return;
  }
  // The socket stays where it is.
  policy->socket = state_.policy.socket;
  state_.names.clear();
  requests_.policy_set(std::move(*policy));
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
}

void Service::event(int fd) {
  if (fd == listener_.get()) return accept_all();
  if (fd == signals_.get()) return signal_read();
  if (fd == links_.get()) return links_read();
  if (const auto voice = voices_.find(fd); voice != voices_.end()) {
    if (BoardVoice* const speaks = state_.boards[voice->second]->voice()) speaks->receive();
    return;
  }
  if (const auto orphan = orphans_.find(fd); orphan != orphans_.end()) {
    const auto grant = state_.grants.all().find(orphan->second);
    orphans_.erase(orphan);
    if (grant != state_.grants.all().end() && grant->second.process.get() == fd)
      requests_.end(grant->second, "its process ended");
    else
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    return;
  }
  if (const auto client = clients_.find(fd); client != clients_.end()) client_read(*client->second);
}

void Service::due(std::int64_t now) {
  std::vector<int> silent;
  const std::int64_t patience = std::int64_t{state_.policy.request_timeout_ms} * 1'000'000;
  for (const auto& [fd, client] : clients_) {
    if (!client->asked && now - client->since >= patience) silent.push_back(fd);
    if (!client->paused || state_.paces[client->user.uid].readable_at() > now) continue;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.fd = fd;
    client->paused = ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0;
  }
  for (const int fd : silent) client_end(fd);
  if (sweep_at_ == 0 || now < sweep_at_) return;
  sweep_pause_ = std::min(2 * sweep_pause_, kSweepMost);
  sweep_at_ = requests_.kept_forget() > 0 ? now + sweep_pause_ : 0;
}

std::int64_t Service::next_due(std::int64_t now) const {
  std::int64_t next = sweep_at_ == 0 ? kNever : sweep_at_;
  const std::int64_t patience = std::int64_t{state_.policy.request_timeout_ms} * 1'000'000;
  for (const auto& [fd, client] : clients_) {
    if (!client->asked) next = std::min(next, client->since + patience);
    if (const auto pace = state_.paces.find(client->user.uid); client->paused && pace != state_.paces.end())
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
    for (int i = 0; i < count && !ends_; i++) event(events[static_cast<std::size_t>(i)].data.fd);
  }
}

}  // namespace omx::broker
