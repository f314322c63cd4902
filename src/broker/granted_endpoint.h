// SPDX-License-Identifier: BSD-3-Clause
// The sockets of one endpoint, as the broker grants them. The grant ends with this object, or with the
// process. If the broker restarts meanwhile, the sockets go on working, and the next broker takes the grant
// up again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/fork_guard.h"
#include "broker/connection.h"
#include "link/packet/granted_sockets.h"

namespace omx::broker {

struct EndpointWish {
  std::string path;  // of the broker
  std::string interface;
  std::uint8_t endpoint = 0;
  std::uint32_t ring_frames = 0;
  std::uint32_t ring_bytes = 0;
};

// Systemd starts a broker that has ended within a second.
inline constexpr std::chrono::milliseconds kLookPause{2000};

// The state of the grant, as far as it is known:
//
//   (start) -- data() --> held -- the connection ends --> unknown <---------------+
//                          ^                                 |                    | the connection ends, or
//                          |                                 | a broker accepts:  | the answer says nothing
//                          |                                 v ask for the grant  | of the grant: pause
//                          +---------- taken up ---------- asked -----------------+
//                                                            |
//                                                            | no such grant, or not allowed
//                                                            v
//                                                         revoked
//
// The answer to the question is looked for at the next call, because the endpoint's lock is held meanwhile.
// After data() the grant is held, whatever it was.
class GrantedEndpoint final : public link::GrantedSockets {
 public:
  explicit GrantedEndpoint(EndpointWish wish, std::chrono::milliseconds look_pause = kLookPause)
      : wish_(std::move(wish)), look_pause_(look_pause) {}
  ~GrantedEndpoint() override { classes_unmap(); }

  Result<Data> data() override;
  OwnFd bulk() override { return another(SocketKind::bulk); }
  OwnFd wakeup() override { return another(SocketKind::wakeup); }
  bool withdrawn() override;
  void take(Socket socket, std::optional<link::FrameClass> frames) override;

 private:
  Request request(Kind kind) const;
  enum class State : std::uint8_t { held, unknown, asked, revoked };
  State look();
  void ask_again();
  void answer_look();
  void lose(const Failure& why);
  OwnFd another(SocketKind kind);
  int classes_map(const OwnFd& map);
  void classes_unmap();

  EndpointWish wish_;
  std::optional<Connection> connection_;
  std::uint64_t cookie_ = 0;  // of the data socket
  std::chrono::milliseconds look_pause_;
  State state_ = State::unknown;
  std::chrono::steady_clock::time_point look_at_{};  // when to look for a broker again
  Classes* classes_ = nullptr;
  ForkMark mark_;
};

}  // namespace omx::broker
