// SPDX-License-Identifier: BSD-3-Clause
// The memory of the host that messages may fill while they wait for their receives. It is a quarter of the
// host's memory, or of what the process's cgroup allows, shared by all processes. The memory is cut into
// parts. A process holds a part as it holds an endpoint id (claim.h): by binding an abstract socket, which
// the kernel frees at any exit. So processes need no common count, and nothing outlives a process that was
// killed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/fork_guard.h"
#include "protocol/memory_share.h"
#include "runtime/board/claim.h"

namespace omx::runtime {

// Returns the memory of the host, or of the cgroup that the process is in; 0 if unknown. Only tests set
// `root`.
std::uint64_t memory_limit(const std::string& root = {});

class HostMemory final : public protocol::MemoryShare {
 public:
  explicit HostMemory(std::uint64_t quarter);
  // Returns the object that all endpoints of the process share.
  static HostMemory& of_process();

  // Any thread may call these functions.
  bool take(std::size_t bytes) override;
  void give(std::size_t bytes) override;
  std::size_t available() const override;

  std::uint64_t quarter() const { return quarter_; }
  // Returns what each endpoint has for itself, beside all parts.
  std::uint64_t endpoint_base() const;

 private:
  // The first kSmall parts are 1/32 of the quarter each, the others 1/8.
  static constexpr unsigned kSmall = 16, kParts = 20;
  std::uint64_t part_bytes(unsigned part) const { return quarter_ / (part < kSmall ? 32 : 8); }
  bool part_claim();
  // Gives unused parts back.
  void parts_return();

  const std::uint64_t quarter_;
  mutable std::mutex mutex_;
  std::array<Claim, kParts> parts_;
  std::uint64_t held_ = 0, used_ = 0;
  // The size in bytes that was refused, and until when (nanoseconds) this size is not tried again.
  std::uint64_t refused_ = 0, refused_until_ = 0;
  ForkMark mark_;
};

}  // namespace omx::runtime
