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

// Parses the text of a binding file. An error names file and line but quotes no content, because `path` may
// be another file than it should be.
Result<std::vector<BindingLine>> binding_file_parse(std::string_view text, const std::string& path);
enum class BindingTrust : std::uint8_t {
  named,  // the user chose this file
  // Any user may write to the folder. The file must be regular, and only root and this user may change it.
  exposed
};
// Reads and parses a binding file.
Result<std::vector<BindingLine>> binding_file_read(const std::string& path, BindingTrust trust);

// An interface, and what is known about its queues.
struct BindingBoard {
  std::string interface;
  NicId nic = 0;
  ReceiveQueues queues;
};
// Returns a binding file for endpoints 0 to `endpoints` - 1 of each board. Each endpoint gets a processor of
// its own while a processor of its queue, or one that shares a cache with it, is free. Further endpoints get
// all of these processors. `beside` works like Topology::beside.
std::string binding_file_text(const std::vector<BindingBoard>& boards, std::uint32_t endpoints,
                              const std::function<std::vector<int>(int)>& beside);

}  // namespace omx::steering
