// SPDX-License-Identifier: BSD-3-Clause
// The time slice of a thread: how long it may run at a time while others want its processor. Since Linux 6.12
// a thread may ask for its own. One with a shorter slice gets the processor sooner when it wakes, and no more
// of it in all (Documentation/scheduler/sched-eevdf.rst of the kernel).
#pragma once

#include <cstdint>

namespace omx {

// Returns the slice of the calling thread in ns; 0: the kernel has no slices of single threads, or another
// scheduling policy than the default one applies.
std::uint64_t time_slice();
// Shortens the slice of the calling thread. A shorter one stays, and so does that of a thread with another
// priority than the default one, since it was chosen. Threads and processes that it starts later inherit
// the slice. Returns whether it was changed.
bool time_slice_shorten(std::uint64_t ns);

}  // namespace omx
