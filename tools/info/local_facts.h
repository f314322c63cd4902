// SPDX-License-Identifier: BSD-3-Clause
// Finds how messages between processes of this host travel.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"

namespace omx::tools {

struct LocalFacts {
  bool used = false;            // shared memory is used
  std::uint32_t threshold = 0;  // bytes; larger messages go by rendezvous
  bool one_copy = false;
  std::string reason;
};

LocalFacts local_facts_find(const runtime::Settings& settings);

}  // namespace omx::tools
