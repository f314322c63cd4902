// SPDX-License-Identifier: BSD-3-Clause
// The memory of the host that messages may take which wait for their receives: a quarter of it, or of what
// the process's cgroup allows, shared by all processes. It is cut into parts, and a part is held as an
// endpoint id is (claim.h): by binding an abstract socket, which the kernel frees at any exit. So nothing
// needs to be counted together, and nothing outlives a process that was killed.
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

// What the host, or the cgroup that the process is in, has of memory; 0: unknown. `root` is "" but in tests.
std::uint64_t memory_limit(const std::string& root = {});

class HostMemory final : public protocol::MemoryShare {
 public:
  explicit HostMemory(std::uint64_t quarter);
  // For all endpoints of the process.
  static HostMemory& of_process();

  // Any thread may call these.
  bool take(std::size_t bytes) override;
  void give(std::size_t bytes) override;
  std::size_t available() const override;

  std::uint64_t quarter() const { return quarter_; }
  // What an endpoint has for itself, beside all parts.
  std::uint64_t endpoint_base() const;

 private:
  // The first 16 are 1/32 each, the others 1/8.
  static constexpr unsigned kSmall = 16, kParts = 20;
  std::uint64_t part_bytes(unsigned part) const { return quarter_ / (part < kSmall ? 32 : 8); }
  bool part_claim();
  // What of the parts is not used.
  void parts_return();

  const std::uint64_t quarter_;
  mutable std::mutex mutex_;
  std::array<Claim, kParts> parts_;
  std::uint64_t held_ = 0, used_ = 0;
  // Bytes, and nanoseconds: as much is not tried again before that.
  std::uint64_t refused_ = 0, refused_until_ = 0;
  ForkMark mark_;
};

}  // namespace omx::runtime
