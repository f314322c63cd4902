// SPDX-License-Identifier: BSD-3-Clause
// The sockets of one endpoint, as the broker grants them. The grant ends with this object, or with the
// process. If the broker restarts meanwhile, the sockets go on working, and the grant is taken up again when
// another socket is wanted.
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

class GrantedEndpoint final : public link::GrantedSockets {
 public:
  explicit GrantedEndpoint(EndpointWish wish) : wish_(std::move(wish)) {}
  ~GrantedEndpoint() override { classes_unmap(); }

  Result<Data> data() override;
  OwnFd bulk() override { return another(SocketKind::bulk); }
  OwnFd wakeup() override { return another(SocketKind::wakeup); }
  bool withdrawn() override;
  void take(Socket socket, std::optional<link::FrameClass> frames) override;

 private:
  Request request(Kind kind) const;
  // The state of the grant, as far as it is known.
  enum class Standing : std::uint8_t { held, unknown, revoked };
  Standing standing();
  OwnFd another(SocketKind kind);
  int classes_map(OwnFd map);
  void classes_unmap();

  EndpointWish wish_;
  std::optional<Connection> connection_;
  std::uint64_t cookie_ = 0;  // of the data socket
  bool revoked_ = false;
  std::chrono::steady_clock::time_point look_at_{};  // when to look for a broker again
  OwnFd map_;                                        // of the classes
  Classes* classes_ = nullptr;
  ForkMark mark_;
};

}  // namespace omx::broker
