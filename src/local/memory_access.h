// SPDX-License-Identifier: BSD-3-Clause
// Whether the system lets us read another process's memory, which one copy needs.
#pragma once

#include <cstdint>

namespace omx::local {

// What shows a peer that it reads our memory and not another process's.
std::uint64_t proof_address();
// Reads the proof at that address of that process. 0, or why we may not.
int memory_try(int pid, std::uint64_t proof_at);
// What to do about that.
const char* memory_remedy(int error);

}  // namespace omx::local
