// SPDX-License-Identifier: BSD-3-Clause
// How messages between processes of this host would go.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"

namespace omx::tools {

struct LocalFacts {
  bool used = false;            // shared memory at all
  std::uint32_t threshold = 0;  // bytes; larger messages go by rendezvous
  bool one_copy = false;
  std::string reason;
};

LocalFacts local_facts_find(const runtime::Settings& settings);

}  // namespace omx::tools
