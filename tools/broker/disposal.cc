// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/disposal.h"

#include <system_error>
#include <thread>
#include <utility>

#include "base/no_signals.h"

namespace omx::broker {

void Disposal::begin(uid_t uid, bool has_place, OwnFd socket) {
  auto closed = std::make_shared<std::atomic<bool>>(false);
  closing_.push_back({uid, has_place, closed});
  const NoSignals no_signals;
  try {
    std::thread([fd = std::move(socket), closed]() mutable {
      fd.reset();
      closed->store(true);
    }).detach();
  } catch (const std::system_error&) {  // no thread is left, and the capture has closed the socket
    closed->store(true);
  }
}

std::vector<uid_t> Disposal::done() {
  std::vector<uid_t> users;
  std::erase_if(closing_, [&](const Closing& closing) {
    if (!closing.closed->load()) return false;
    if (closing.has_place) users.push_back(closing.uid);
    return true;
  });
  return users;
}

}  // namespace omx::broker
