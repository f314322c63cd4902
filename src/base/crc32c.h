// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli), the payload checksum of the extension block (docs/wire.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace omx {

// Continues from `crc` (0 to start). Uses the processor's instruction where there is one.
std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t length);

}  // namespace omx
