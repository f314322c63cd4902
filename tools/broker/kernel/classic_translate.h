// SPDX-License-Identifier: BSD-3-Clause
// Translates classic BPF, in which this project's filters are written, to eBPF.
#pragma once

#include <cstdint>
#include <span>

#include "link/packet/packet_filter.h"
#include "tools/broker/kernel/ebpf_code.h"

namespace omx::broker {

// A constant of a filter whose comparisons use a register instead. The register is one of r7 to r9.
struct Placeholder {
  std::uint32_t value = 0;
  EbpfCode::Register in = EbpfCode::r7;
};

// Bytes of the frame that the program has copied to its stack, by one call. Each load from the frame is a
// call, too.
struct FrameCopy {
  std::uint32_t first = 0;  // place in the frame
  std::uint32_t bytes = 0;
  int at = 0;  // place on the stack
};

// Adds the instructions of a classic filter. r6 must hold the context, and the code ends within: it returns
// what the filter returns. Returns false, without a usable program, at an instruction that our filters do not
// use.
bool classic_translate(EbpfCode& code, const link::FilterProgram& filter,
                       std::span<const Placeholder> placeholders = {}, const FrameCopy& copy = {});

}  // namespace omx::broker
