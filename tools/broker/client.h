// SPDX-License-Identifier: BSD-3-Clause
// A process that is connected to the broker.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"
#include "broker/message.h"
#include "tools/broker/accounts.h"
#include "tools/broker/grants.h"

namespace omx::broker {

struct Client {
  ConnectionId id = kNoConnection;
  OwnFd socket;
  User user;
  pid_t pid = 0;
  std::uint64_t started = 0;             // start time of the process
  std::int64_t since = 0;                // when it connected
  bool asked = false;                    // it has made a request
  bool paused = false;                   // it is not read, because its user asks too much or is not known yet
  bool known = false;                    // the account of its user has been looked up
  unsigned questions = 0;                // for names
  std::optional<std::uint32_t> listens;  // number of the board whose names it is told
};

// Reads who is at the other end of a connection, without the name and the groups of the account. Returns
// false if that is not known.
bool client_identify(Client& client);
// Returns the start time of a process in clock ticks; 0 if there is none.
std::uint64_t process_started(pid_t pid);

// Sends an answer with descriptors. Does not wait: a client that does not read loses its answers.
bool answer_send(const Client& client, Kind kind, Answer& answer, std::span<const BoardRecord> boards = {},
                 std::span<const int> descriptors = {});
void refusal_send(const Client& client, Kind kind, const Failure& failure);

// A request as it came.
struct Incoming {
  std::vector<std::byte> packet;
  bool ended = false;    // the connection is at its end, or its packet is empty
  bool hostile = false;  // descriptors came with it, which no library sends
};
// Makes the kernel refuse messages with descriptors, where it can (Linux 6.16).
void descriptors_refuse(int fd);
// Makes the kernel say with each message who sent it, so that an empty one is no end. For each connection.
void senders_ask(int fd);
// Takes a request; nullopt when none is there. Descriptors stay in the connection: to close one may take as
// long as its sender likes.
std::optional<Incoming> request_take(const Client& client);
// Returns whether messages with descriptors may lie in a connection that is shut down. Takes all others out.
bool descriptors_left(const OwnFd& socket);

}  // namespace omx::broker
