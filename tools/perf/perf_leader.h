// SPDX-License-Identifier: BSD-3-Clause
// The client of a group: one endpoint that takes part, and leads the servers of the named hosts and of its
// own threads (perf_dialogue.h).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/perf/perf_group.h"
#include "tools/perf/perf_options.h"
#include "tools/perf/perf_runner.h"
#include "tools/perf/perf_serving.h"
#include "tools/perf/perf_talk.h"

namespace omx::tools {

class PerfLeader : public PerfRunner {
 public:
  // The meter must outlive the runner, and must be older than the library's threads.
  PerfLeader(const PerfOptions& options, PerfMeter& meter) : options_(options), meter_(meter) {}
  ~PerfLeader() override;

  // Opens the endpoint, starts the threads, connects to all members, and lets them connect to each other.
  Result<void> connect();
  std::string describe() const { return port_->describe(); }
  std::uint64_t members() const { return group_.members(); }

  Result<PerfTook> run(const PerfStep& step, PerfHistogram* times) override;
  Result<void> leave() override;
  unsigned pairs() const override;
  double round_trip_s() const override { return members_.front()->talk.round_trip_s(); }

 private:
  // Another member than the leader.
  struct Member {
    PerfTalk talk;
    std::uint64_t nic = 0;
    std::uint32_t endpoint = 0;
    bool here = false;    // a thread of this process
    PerfAnswer answer{};  // that ended the last step
  };
  // A thread of this process that serves the leader.
  struct Helper {
    PerfSeat seat;
    std::thread thread;
  };

  Result<void> helpers_start();
  Result<void> member_connect(const std::string& peer, std::uint64_t nic, std::uint32_t endpoint, bool here);
  Result<void> introduce();
  Result<void> prepare(const PerfStep& step);
  Result<PerfAnswer> answer_take(Member& member);
  PerfTook took(const PerfStep& step, double seconds, double own_s, const PerfUsage& here) const;

  const PerfOptions& options_;
  PerfMeter& meter_;
  std::uint32_t number_ = 0;  // of the group
  // Destroyed after the port, which may receive into them until then.
  PerfGroup group_;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<MxPort> port_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace omx::tools
