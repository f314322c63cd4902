// SPDX-License-Identifier: BSD-3-Clause
#include "base/crc32c.h"

#include "base/crc32c_ways.h"

namespace omx {

namespace {

crc32c_ways::Way way_choose() {
  if (const auto way = crc32c_ways::by_streams()) return way;
  if (const auto way = crc32c_ways::by_instruction()) return way;
  return crc32c_ways::by_table;
}

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t length) {
  static const crc32c_ways::Way way = way_choose();
  return ~way(~crc, static_cast<const unsigned char*>(data), length);
}

}  // namespace omx
