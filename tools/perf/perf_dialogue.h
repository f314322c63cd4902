// SPDX-License-Identifier: BSD-3-Clause
// The messages between client and server of `omx perf`:
//
//   client                          server
//   hello (its number) ------------>        matched by a server that is idle
//   <------------------------ answer        version and readiness
//   step (test, size, count) ------>        for each size, and for each warm-up
//   <------------------------ answer        buffers and receives are ready
//   data <-------------------> data
//   <------------------------ answer        which data were wrong
//   bye --------------------------->
//
// The highest byte of the match information is the kind of message. Its lowest four bytes are the client's
// random number, so that messages of a client that failed do not disturb the next one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "tools/perf/perf_options.h"

namespace omx::tools {

inline constexpr std::uint64_t kPerfVersion = 1;

enum class PerfKind : std::uint64_t { hello = 1, control = 2, answer = 3, data = 4 };

inline constexpr std::uint64_t kKindMask = 0xFFULL << 56;
constexpr std::uint64_t match_of(PerfKind kind, std::uint32_t client) {
  return static_cast<std::uint64_t>(kind) << 56 | client;
}

struct PerfHello {
  std::uint64_t version = kPerfVersion;
  std::uint64_t client = 0;
  std::array<std::uint64_t*, 2> fields() { return {&version, &client}; }
};

struct PerfStep {
  std::uint64_t bye = 0;  // 1: this is no step, the client leaves
  std::uint64_t test = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t window = 1;
  std::uint64_t verify = 0, sync = 0, blocking = 0;
  std::array<std::uint64_t*, 8> fields() {
    return {&bye, &test, &size, &count, &window, &verify, &sync, &blocking};
  }
};

enum class PerfVerdict : std::uint64_t { fine = 0, version_differs, step_refused, data_wrong };

struct PerfAnswer {
  std::uint64_t verdict = 0;  // PerfVerdict
  std::uint64_t message = 0;  // data_wrong: the number of the message ...
  std::uint64_t offset =
      0;  // ... and the offset in it; an offset beyond its size: the bytes behind it were overwritten
  std::array<std::uint64_t*, 3> fields() { return {&verdict, &message, &offset}; }
};

// Returns the encoded size: one big-endian word for each field.
template <class T>
constexpr std::size_t encoded_bytes() {
  return 8 * std::tuple_size_v<decltype(std::declval<T>().fields())>;
}
inline constexpr std::size_t kDialogueBytes = 64;

template <class T>
std::size_t encode(T value, std::byte* out) {
  static_assert(encoded_bytes<T>() <= kDialogueBytes);
  for (const std::uint64_t* field : value.fields()) {
    store_be64(out, *field);
    out += 8;
  }
  return encoded_bytes<T>();
}

template <class T>
T decode(const std::byte* in) {
  T value;
  for (std::uint64_t* field : value.fields()) {
    *field = load_be64(in);
    in += 8;
  }
  return value;
}

}  // namespace omx::tools
