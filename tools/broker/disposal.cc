// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/disposal.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "base/no_signals.h"

namespace omx::broker {

void Disposal::begin(uid_t uid, bool has_place, OwnFd socket) {
  closing_.push_back({uid, has_place, false, std::make_shared<Socket>()});
  closing_.back().socket->fd = std::move(socket);
  start_some();
}

void Disposal::start_some() {
  const NoSignals no_signals;
  auto running = static_cast<std::size_t>(std::ranges::count_if(closing_, &Closing::started));
  for (Closing& closing : closing_) {
    if (running >= kThreadsMost) return;
    if (closing.started) continue;
    try {
      std::thread([socket = closing.socket] {
        socket->fd.reset();
        socket->closed.store(true);
      }).detach();
    } catch (const std::system_error&) {
      return;  // no thread is left; done() tries again
    }
    closing.started = true;
    running++;
  }
}

std::vector<uid_t> Disposal::done() {
  std::vector<uid_t> users;
  std::erase_if(closing_, [&](const Closing& closing) {
    if (!closing.socket->closed.load()) return false;
    if (closing.has_place) users.push_back(closing.uid);
    return true;
  });
  start_some();
  return users;
}

}  // namespace omx::broker
