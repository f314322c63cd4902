// SPDX-License-Identifier: BSD-3-Clause
// The way between the coordinator and one agent.
#pragma once

#include "base/expected.h"
#include "base/time.h"
#include "tools/cluster/record.h"

namespace omx::tools {

// Only one thread at a time may use a channel.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends a record. What cannot be sent shows as a failure of receive().
  virtual void send(const Record& record) = 0;
  // Returns the next record, or why there is none until `deadline`.
  virtual Result<Record> receive(TimeNs deadline) = 0;
  // Returns whether the agent ended, so that another one may be started in its place.
  virtual bool ended() const { return false; }
  // Tells the agent to end.
  virtual void close() = 0;
};

// Collects bytes, and hands out the records among their lines.
class LineBuffer {
 public:
  void add(std::string_view bytes);
  std::optional<Record> next();
  // Returns the last line that was no record, for people to read.
  const std::string& noise() const { return noise_; }

 private:
  std::string bytes_;
  std::string noise_;
};

}  // namespace omx::tools
