// SPDX-License-Identifier: BSD-3-Clause
// A mark beside plain data that others read without a lock: "what follows is no longer yours to read", or "I
// am writing". A reader that reads the data and then the mark must not find new data under an old mark.
//
// A release or seq_cst store does not ensure that. It orders what was stored before it, and on arm64 later
// plain stores may pass it. An exchange does not ensure that either. It may be a pair of exclusive
// instructions (before ARMv8.1), and later stores may pass the second of them. A fence between the mark and
// later stores orders them. On x86 the fence costs nothing. On arm64 it is one `dmb`.
//
// The reader reads in the opposite order, the data first and then the mark, with an acquire fence between
// them. For process_vm_readv and pread, barriers of the kernel take the place of that fence.
#pragma once

#include "base/fences.h"

namespace omx {

// Stores `value` in the atomic word. A reader that sees a later store of the caller sees this one too.
// `Fence` is another type only where a test explores what the memory model permits.
template <class Fence = Fences, class Word, class Value>
inline void store_ahead(Word&& word, Value value) {
  word.store(value, std::memory_order_relaxed);
  Fence::release();
}

}  // namespace omx
