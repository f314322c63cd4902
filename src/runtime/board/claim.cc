// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/claim.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/text.h"
#include "base/text_file.h"
#include "runtime/board/claim_search.h"

namespace omx::runtime {

namespace {

constexpr int kMxNoResources = 15;
constexpr int kMxBusy = 20;
// Each probe of a claim leaves a connection in its holder's queue until the holder drains it.
constexpr int kBacklog = 64;

std::string endpoint_name(std::uint32_t ifindex, std::uint32_t endpoint) {
  return fmt::format("omx/{}/{}", ifindex, endpoint);
}

// Fills in an abstract address: a NUL, then the name without a NUL at its end. Returns its length.
socklen_t address_fill(sockaddr_un& address, const std::string& name) {
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

OwnFd socket_open() {
  return OwnFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Claims a name. The claim is not held() when another process has the name.
Result<Claim> name_claim(const std::string& name) {
  Claim claim(socket_open());
  if (!claim.held())
    return fail(kMxNoResources, fmt::format("no socket for claim {}: {}", name, std::strerror(errno)));
  sockaddr_un address;
  const socklen_t length = address_fill(address, name);
  if (::bind(claim.descriptor(), reinterpret_cast<sockaddr*>(&address), length) < 0) {
    if (errno == EADDRINUSE) return Claim();
    return fail(kMxNoResources, fmt::format("cannot bind claim {}: {}", name, std::strerror(errno)));
  }
  if (::listen(claim.descriptor(), kBacklog) < 0) {
    return fail(kMxNoResources, fmt::format("cannot listen on claim {}: {}", name, std::strerror(errno)));
  }
  return claim;
}

enum class ClaimState { free, held, held_unseen, unknown };

// Connects to the holder and hangs up. The holder need not answer.
ClaimState claim_probe(const std::string& name, ucred* credentials) {
  const Claim probe(socket_open());
  if (!probe.held()) return ClaimState::unknown;  // out of descriptors
  sockaddr_un address;
  const socklen_t length = address_fill(address, name);
  if (::connect(probe.descriptor(), reinterpret_cast<sockaddr*>(&address), length) < 0) {
    // EAGAIN: the holder's queue is full of such probes. ECONNREFUSED: the name does not exist, or its
    // socket does not listen yet, which is as good as free.
    return errno == EAGAIN         ? ClaimState::held_unseen
           : errno == ECONNREFUSED ? ClaimState::free
                                   : ClaimState::unknown;
  }
  if (!credentials) return ClaimState::held;
  socklen_t size = sizeof *credentials;
  const int error = ::getsockopt(probe.descriptor(), SOL_SOCKET, SO_PEERCRED, credentials, &size);
  return error || credentials->pid == 0 ? ClaimState::held_unseen : ClaimState::held;
}

// Returns the command name of a process. A process chooses its own name, which may end up in other users'
// terminals and files, so it is made harmless.
std::string command_of(pid_t pid) {
  std::string command = text_file_read(fmt::format("/proc/{}/comm", pid)).value_or("");
  if (!command.empty() && command.back() == '\n') command.pop_back();
  return shown(command);
}

}  // namespace

void Claim::drain() const {
  for (int i = 0; i <= kBacklog; i++) {
    const int connection = ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    ::close(connection);
  }
}

Result<Claim> claim_try(std::uint32_t ifindex, std::uint32_t endpoint) {
  return name_claim(endpoint_name(ifindex, endpoint));
}

Failure claim_busy(std::uint32_t ifindex, std::uint32_t endpoint) {
  const auto holder = claim_holder(ifindex, endpoint);
  std::string who = "another process";
  if (holder && holder->pid == ::getpid()) {
    who = "this process";
  } else if (holder && holder->pid) {
    who = fmt::format("process {} ({})", holder->pid, holder->command);
  }
  return {kMxBusy, fmt::format("endpoint {} is held by {}", endpoint, who)};
}

Result<Claim> claim_endpoint(std::uint32_t ifindex, std::uint32_t endpoint) {
  auto claim = claim_try(ifindex, endpoint);
  if (claim && !claim->held()) return tl::unexpected(claim_busy(ifindex, endpoint));
  return claim;
}

Result<Claim> claim_responder(std::uint32_t ifindex) {
  auto claim = name_claim(fmt::format("omx/{}/board", ifindex));
  if (claim && !claim->held()) return fail(kMxBusy, "another endpoint answers for the board");
  return claim;
}

Result<Claim> claim_processor(int cpu) {
  return name_claim(fmt::format("omx/processor/{}", cpu));
}

Result<Claim> claim_memory(unsigned part) {
  return name_claim(fmt::format("omx/memory/{}", part));
}

Claim claim_answer(std::uint32_t ifindex, NicId asker, std::uint64_t question, std::uint64_t moment) {
  auto claim = name_claim(fmt::format("omx/{}/answer/{:x}/{:x}/{}", ifindex, asker, question, moment));
  return claim ? std::move(*claim) : Claim();
}

std::optional<ClaimHolder> claim_holder(std::uint32_t ifindex, std::uint32_t endpoint) {
  const std::string name = endpoint_name(ifindex, endpoint);
  ucred credentials{};
  const ClaimState state = claim_probe(name, &credentials);
  if (state == ClaimState::free) return std::nullopt;
  ClaimHolder holder;
  holder.pid = state == ClaimState::held ? credentials.pid : claim_search(name);
  holder.uid = state == ClaimState::held ? credentials.uid : static_cast<uid_t>(-1);
  if (holder.pid) holder.command = command_of(holder.pid);
  return holder;
}

OwnFd claim_connect(std::uint32_t ifindex, std::uint32_t endpoint) {
  OwnFd connection = socket_open();
  sockaddr_un address;
  const socklen_t length = address_fill(address, endpoint_name(ifindex, endpoint));
  if (connection.open() && ::connect(connection.get(), reinterpret_cast<sockaddr*>(&address), length) < 0) {
    const int error = errno;
    connection.reset();
    errno = error;
  }
  return connection;
}

bool claim_held(std::uint32_t ifindex, std::uint32_t endpoint) {
  return claim_probe(endpoint_name(ifindex, endpoint), nullptr) != ClaimState::free;
}

}  // namespace omx::runtime
