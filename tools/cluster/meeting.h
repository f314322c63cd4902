// SPDX-License-Identifier: BSD-3-Clause
// A folder that all hosts of a job share, in which its ranks meet. For each rank there is a file of requests
// and a file of answers. A file has one writer, who only adds lines, so a shared file system needs no locks.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/expected.h"
#include "tools/cluster/agent.h"
#include "tools/cluster/channel.h"
#include "tools/cluster/job.h"

namespace omx::tools {

// The folder, as rank 0 makes it. Shows the others that rank 0 lives, and removes the folder at the end.
class Meeting {
 public:
  static Result<std::unique_ptr<Meeting>> open(const std::string& parent, const Job& job);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  std::unique_ptr<Channel> channel(std::size_t rank) const;

 private:
  explicit Meeting(std::string folder);
  std::string folder_;
  std::jthread pulse_;
};

// Returns the seat of another rank, or the reason why there is no folder until `deadline`.
Result<std::unique_ptr<AgentSeat>> meeting_join(const std::string& parent, const Job& job, TimeNs deadline);

}  // namespace omx::tools
