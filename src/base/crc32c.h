// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli), the checksum of the extension block and of frames (docs/reference/wire.md 5, 11).
#pragma once

#include <cstddef>
#include <cstdint>

namespace omx {

// Returns the checksum of the data, continued from `crc` (0 to start). Uses the processor's CRC instruction
// if it has one.
std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t length);

}  // namespace omx
