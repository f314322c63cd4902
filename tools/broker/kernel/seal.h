// SPDX-License-Identifier: BSD-3-Clause
// Makes sockets whose options no one can change, whoever holds them.
//
// A socket belongs to the cgroup in which it was created, for its whole life. The process that makes sealed
// sockets is in a cgroup of its own, whose program refuses every setsockopt() once the socket carries our
// mark. The program stays in force when the process dies and the cgroup is removed.
#pragma once

#include <string>

#include "base/expected.h"
#include "base/own_fd.h"

namespace omx::broker {

class Seal {
 public:
  // Moves this process, with all its threads, into a cgroup of its own below its present one, and puts the
  // program there. Removes the empty cgroups that killed processes left beside it.
  static Result<Seal> enter();

  // Removes the empty cgroups that killed processes left beside this process's.
  static void leftovers_remove();

  Seal(Seal&& other) noexcept : home_(std::move(other.home_)), own_(std::move(other.own_)) {
    other.own_.clear();
  }
  Seal& operator=(Seal&&) = delete;
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;
  ~Seal();

  // Moves the process back and removes the cgroup. Sockets stay sealed.
  Result<void> leave();
  // The folder of the cgroup.
  const std::string& folder() const { return own_; }

 private:
  static Result<Seal> make(const std::string& home);
  Seal(std::string home, std::string own) : home_(std::move(home)), own_(std::move(own)) {}

  std::string home_;  // folder of the cgroup that the process came from
  std::string own_;   // empty: left
};

// Returns whether the kernel refuses options of this socket, by an attempt to set its present mark again.
bool seal_holds(int fd);

}  // namespace omx::broker
