// SPDX-License-Identifier: BSD-3-Clause
// Maps whose sockets are closed, for the next endpoints of the same user. A process may keep one mapped for
// ever, so a new map for each endpoint would let a user take memory without limit.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "base/own_fd.h"

namespace omx::broker {

class SpareMaps {
 public:
  // Takes a map that the user had. Not open when there is none.
  OwnFd take(uid_t uid) {
    const auto found =
        std::find_if(maps_.rbegin(), maps_.rend(), [=](const auto& m) { return m.first == uid; });
    if (found == maps_.rend()) return {};
    OwnFd map = std::move(found->second);
    maps_.erase(std::next(found).base());
    return map;
  }
  // Keeps a map. The oldest one goes if there are too many: users with many ids (/etc/subuid) would fill the
  // broker's table of descriptors.
  void put(uid_t uid, OwnFd map) {
    if (maps_.size() >= kMost) maps_.pop_front();
    maps_.emplace_back(uid, std::move(map));
  }
  std::size_t size() const { return maps_.size(); }

  static constexpr std::size_t kMost = 4096;

 private:
  std::deque<std::pair<uid_t, OwnFd>> maps_;
};

}  // namespace omx::broker
