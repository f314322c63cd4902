// SPDX-License-Identifier: BSD-3-Clause
// A connection of a process to the broker of its host.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"
#include "broker/message.h"

namespace omx::broker {

struct Reply {
  Answer answer;
  std::vector<BoardRecord> boards;
  std::vector<OwnFd> descriptors;
};

// A broker answers within a millisecond, except on a host that is overloaded. A process that starts waits for
// it at most that long in total, and then goes on without a broker.
inline constexpr std::chrono::milliseconds kStartPatience{2000};

// Not thread-safe. No call waits longer than its caller says.
class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Returns the time that is `patience` from now.
  static Time in(std::chrono::milliseconds patience) { return std::chrono::steady_clock::now() + patience; }

  // Connects to the broker at that path. While the broker's queue is full, it tries again until that time.
  // The failure says why there is none, in one sentence.
  static Result<Connection> open(const std::string& path, Time until = in(kStartPatience));

  // Asks, and waits for the answer until that time. A refusal is a failure with the broker's sentence and
  // code. An answer that comes too late is dropped before the next question.
  Result<Reply> ask(const Request& request, Time until = in(kStartPatience));
  // Returns whether an answer did not come in time, and has not been dropped yet.
  bool owes() const { return late_ > 0; }

  // Asks without waiting. Returns false when the broker is gone, or does not read.
  bool send(const Request& request);
  // Returns whether take() finds an answer, or the end of the connection.
  bool readable() const;
  // Takes an answer of that kind, if one is there.
  Result<Reply> take(Kind kind);
  // Returns whether take() has come to the end of the connection.
  bool ended() const { return ended_; }
  // Returns whether the broker is still there.
  bool alive() const;
  int descriptor() const { return fd_.get(); }

 private:
  struct Packet;

  explicit Connection(OwnFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  bool await(Time until) const;
  Result<void> receive(Packet& packet);
  Result<void> late_drop();

  OwnFd fd_;
  std::string path_;
  unsigned late_ = 0;  // answers that did not come in time
  bool ended_ = false;
};

// Returns a request of a kind for the board of an interface.
Request request_of(Kind kind, const std::string& interface);

}  // namespace omx::broker
