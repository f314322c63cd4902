// SPDX-License-Identifier: BSD-3-Clause
// The file that maps endpoints to processors, in the form of Open-MX 1.x: comments, and lines
//   board 02:00:00:00:00:01 ep 3 irq 45 mask 00000008
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/mac.h"
#include "steering/queues.h"

namespace omx::steering {

struct BindingLine {
  NicId board = 0;
  std::uint32_t endpoint = 0;
  std::vector<int> processors;
};

// Failures name file and line, and nothing of what is in it: it may be another file than it should.
Result<std::vector<BindingLine>> binding_file_parse(std::string_view text, const std::string& path);
enum class BindingTrust : std::uint8_t {
  named,  // somebody chose this file
  // It lies where anybody may write: only a regular file that nobody but root or this user may change.
  exposed
};
// Reads and parses.
Result<std::vector<BindingLine>> binding_file_read(const std::string& path, BindingTrust trust);

// An interface, and what its queues are known to do.
struct BindingBoard {
  std::string interface;
  NicId nic = 0;
  ReceiveQueues queues;
};
// For endpoints 0 to `endpoints` - 1 of each board. No two get one processor as long as there is another one
// that shares a cache with it, which `beside` tells as Topology::beside; then they get all of these.
std::string binding_file_text(const std::vector<BindingBoard>& boards, std::uint32_t endpoints,
                              const std::function<std::vector<int>(int)>& beside);

}  // namespace omx::steering
