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

// A broker answers within a millisecond, except on a host that is overloaded.
inline constexpr std::chrono::milliseconds kPatience{10'000};

// Not thread-safe.
class Connection {
 public:
  // Connects to the broker at that path. The failure says why there is none, in one sentence.
  static Result<Connection> open(const std::string& path);

  // Asks, and waits for the answer, for `patience` at most. The broker gets a copy of `descriptor`. A refusal
  // is a failure with the broker's sentence and MX code. A connection whose answer did not come in time stays
  // late().
  Result<Reply> ask(const Request& request, std::chrono::milliseconds patience = kPatience,
                    int descriptor = -1);
  bool late() const { return late_; }
  // Asks without waiting. Returns false when the broker is gone.
  bool send(const Request& request, int descriptor = -1);
  // Takes an answer of that kind, if one is there.
  Result<Reply> take(Kind kind);
  int descriptor() const { return fd_.get(); }
  // Returns whether the broker is still there.
  bool alive() const;

 private:
  explicit Connection(OwnFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  bool await(std::chrono::milliseconds patience) const;

  OwnFd fd_;
  std::string path_;
  bool late_ = false;
};

// Returns a request of a kind for the board of an interface.
Request request_of(Kind kind, const std::string& interface);

}  // namespace omx::broker
