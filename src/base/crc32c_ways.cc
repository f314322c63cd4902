// SPDX-License-Identifier: BSD-3-Clause
#include "base/crc32c_ways.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/crc32c_instructions.h"

namespace omx::crc32c_ways {

namespace {

// A checksum is a polynomial modulo that of CRC-32C. The highest bit is the coefficient of x^0.
constexpr std::uint32_t times_x(std::uint32_t a) {
  return (a & 1) ? (a >> 1) ^ 0x82f63b78U : a >> 1;
}

constexpr std::uint32_t times_x(std::uint32_t a, unsigned count) {
  while (count--) a = times_x(a);
  return a;
}

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; i++) table[i] = times_x(i, 8);
  return table;
}

constexpr auto kTable = make_table();

}  // namespace

std::uint32_t by_table(std::uint32_t crc, const unsigned char* data, std::size_t length) {
  while (length--) crc = (crc >> 8) ^ kTable[(crc ^ *data++) & 255];
  return crc;
}

#if OMX_CRC32C_INSTRUCTION

namespace {

// Words of 8 bytes of one stream in a round. A round of three streams takes 4 KiB with the header of a frame.
constexpr std::size_t kWordsMost = 176;
// Below some 160 bytes combining the streams costs more than they gain (docs/performance/notebook.md).
constexpr std::size_t kStreamsLeast = 192;

// kAhead[i] carries a checksum over i words: x^(64 i - 33). The product of two polynomials of 32 bits has
// their product times x, and add64() multiplies by x^32.
constexpr std::array<std::uint32_t, 2 * kWordsMost + 1> make_ahead() {
  std::array<std::uint32_t, 2 * kWordsMost + 1> ahead{};
  std::uint32_t power = times_x(0x80000000U, 64 - 33);
  for (std::size_t i = 1; i < ahead.size(); i++, power = times_x(power, 64)) ahead[i] = power;
  return ahead;
}

constexpr auto kAhead = make_ahead();

OMX_CRC32C_TARGET inline std::uint32_t add_word_at(std::uint32_t crc, const unsigned char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return add64(crc, word);
}

OMX_CRC32C_TARGET std::uint32_t instruction(std::uint32_t crc, const unsigned char* data,
                                            std::size_t length) {
  for (; length >= 8; data += 8, length -= 8) crc = add_word_at(crc, data);
  if (length & 4) {
    std::uint32_t word;
    std::memcpy(&word, data, sizeof word);
    crc = add32(crc, word);
    data += 4;
  }
  for (length &= 3; length > 0; length--) crc = add8(crc, *data++);
  return crc;
}

OMX_CRC32C_TARGET std::uint32_t streams(std::uint32_t crc, const unsigned char* data, std::size_t length) {
  while (length >= kStreamsLeast) {
    const std::size_t words = std::min(length / 24, kWordsMost), bytes = words * 8;
    std::uint32_t second = 0, third = 0;
    for (const unsigned char* const end = data + bytes; data < end; data += 8) {
      crc = add_word_at(crc, data);
      second = add_word_at(second, data + bytes);
      third = add_word_at(third, data + 2 * bytes);
    }
    crc = add64(0, multiply(crc, kAhead[2 * words]) ^ multiply(second, kAhead[words])) ^ third;
    data += 2 * bytes;
    length -= 3 * bytes;
  }
  return instruction(crc, data, length);
}

}  // namespace

Way by_instruction() {
  return has_instruction() ? instruction : nullptr;
}

Way by_streams() {
  return has_instruction() && has_multiplication() ? streams : nullptr;
}

#else

Way by_instruction() {
  return nullptr;
}

Way by_streams() {
  return nullptr;
}

#endif

}  // namespace omx::crc32c_ways
