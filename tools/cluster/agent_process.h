// SPDX-License-Identifier: BSD-3-Clause
// An agent that the coordinator starts by a command such as ssh, and talks with by its input and output.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/own_fd.h"
#include "tools/cluster/channel.h"

namespace omx::tools {

class AgentProcess final : public Channel {
 public:
  // Starts the command. It ends with the thread that calls this, which must be the main thread.
  static Result<std::unique_ptr<AgentProcess>> start(const std::vector<std::string>& command);
  ~AgentProcess() override;  // kills the command if it still runs after close() and half a second
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  void send(const Record& record) override;
  Result<Record> receive(TimeNs deadline) override;
  bool ended() const override { return !output_.open(); }
  void close() override { input_.reset(); }

 private:
  AgentProcess(pid_t pid, OwnFd input, OwnFd output, OwnFd errors)
      : pid_(pid), input_(std::move(input)), output_(std::move(output)), errors_(std::move(errors)) {}
  bool read_from(OwnFd& fd, LineBuffer& lines);
  std::string reason() const;

  pid_t pid_;
  OwnFd input_, output_, errors_;
  LineBuffer lines_, complaints_;
};

}  // namespace omx::tools
