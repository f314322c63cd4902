// SPDX-License-Identifier: BSD-3-Clause
// Whether the system lets us read another process's memory, which one copy needs. Thread-safe.
#pragma once

#include <cstdint>

namespace omx::local {

// Returns the address of a proof in our memory. It shows a peer that it reads our memory and not another
// process's.
std::uint64_t proof_address();
// Reads the proof at that address of that process. Returns 0, or the errno that says why we may not.
int memory_try(int pid, std::uint64_t proof_at);
// Returns what the user should do about that error.
const char* memory_remedy(int error);

}  // namespace omx::local
