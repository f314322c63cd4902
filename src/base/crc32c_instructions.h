// SPDX-License-Identifier: BSD-3-Clause
// The processor's instructions for CRC-32C, and for the multiplication that combines checksums. Callers on
// x86 are marked OMX_CRC32C_TARGET. On arm64 assembly text works with every compiler and option.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#define OMX_CRC32C_INSTRUCTION 1
#define OMX_CRC32C_TARGET __attribute__((target("sse4.2,pclmul")))
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#include <sys/auxv.h>
#define OMX_CRC32C_INSTRUCTION 1
#define OMX_CRC32C_TARGET
#else
#define OMX_CRC32C_INSTRUCTION 0
#endif

namespace omx::crc32c_ways {

#if defined(__x86_64__)

inline bool has_instruction() {
  return __builtin_cpu_supports("sse4.2");
}
inline bool has_multiplication() {
  return __builtin_cpu_supports("pclmul");
}
OMX_CRC32C_TARGET inline std::uint32_t add64(std::uint32_t crc, std::uint64_t word) {
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
}
OMX_CRC32C_TARGET inline std::uint32_t add32(std::uint32_t crc, std::uint32_t word) {
  return _mm_crc32_u32(crc, word);
}
OMX_CRC32C_TARGET inline std::uint32_t add8(std::uint32_t crc, std::uint8_t byte) {
  return _mm_crc32_u8(crc, byte);
}
// Returns the carry-less product.
OMX_CRC32C_TARGET inline std::uint64_t multiply(std::uint32_t a, std::uint32_t b) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi32_si128(static_cast<int>(a)), _mm_cvtsi32_si128(static_cast<int>(b)), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

#elif OMX_CRC32C_INSTRUCTION

inline bool has_instruction() {
  constexpr unsigned long kCrc32 = 1 << 7;  // HWCAP_CRC32
  return ::getauxval(AT_HWCAP) & kCrc32;
}
inline bool has_multiplication() {
  constexpr unsigned long kPmull = 1 << 4;  // HWCAP_PMULL
  return ::getauxval(AT_HWCAP) & kPmull;
}
inline std::uint32_t add64(std::uint32_t crc, std::uint64_t word) {
  asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
  return crc;
}
inline std::uint32_t add32(std::uint32_t crc, std::uint32_t word) {
  asm(".arch_extension crc\n\tcrc32cw %w0, %w0, %w1" : "+r"(crc) : "r"(word));
  return crc;
}
inline std::uint32_t add8(std::uint32_t crc, std::uint8_t byte) {
  asm(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(byte));
  return crc;
}
// Returns the carry-less product.
inline std::uint64_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint64_t x = a, product;
  asm(".arch_extension aes\n\tfmov d0, %1\n\tfmov d1, %2\n\tpmull v0.1q, v0.1d, v1.1d\n\tfmov %0, d0"
      : "=r"(product)
      : "r"(x), "r"(std::uint64_t{b})
      : "v0", "v1");
  return product;
}

#endif

}  // namespace omx::crc32c_ways
