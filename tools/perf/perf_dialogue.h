// SPDX-License-Identifier: BSD-3-Clause
// The messages between client and server of `omx perf`:
//
//   client                          server
//   hello (its number) ------------>        matched by a server that is idle
//   <------------------------ answer        version and readiness
//   step (test, size, count) ------>        for each size, and for each warm-up
//   <------------------------ answer        buffers and receives are ready
//   data <-------------------> data
//   <------------------------ answer        which data were wrong, and what the server spent
//   bye --------------------------->
//
// A group (incast, all-pairs) has one client, which leads, and several servers. Since dialogue 2:
//
//   leader                          each server
//   member (rank, NIC, endpoint) -->        for each member of the group
//   <------------------------ answer        connected, if it will send there
//   group step -------------------->
//   <------------------------ answer        buffers and receives are ready
//   go ---------------------------->        after the answers of all
//   data between the members
//   <------------------------ answer
//
// The highest byte of the match information is the kind of message. Its lowest four bytes are the client's
// random number, so that messages of a client that failed do not disturb the next one. Bits 32 to 47 of a
// group's data are the rank of the sender.
//
// Dialogue 1 is that of Open-MX 0.1 and 0.2.0. Both ends name the newest dialogue that they know in words
// that dialogue 1 ignores, and use the older one of the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/bytes.h"
#include "tools/perf/perf_options.h"
#include "tools/perf/perf_usage.h"

namespace omx::tools {

inline constexpr std::uint64_t kDialogueFirst = 1, kDialogueGroups = 2;
inline constexpr std::uint64_t kDialogueNewest = 2;

enum class PerfKind : std::uint64_t { hello = 1, control = 2, answer = 3, data = 4, go = 5, group_data = 6 };

inline constexpr std::uint64_t kKindMask = 0xFFULL << 56;
constexpr std::uint64_t match_of(PerfKind kind, std::uint32_t client, std::uint64_t rank = 0) {
  return static_cast<std::uint64_t>(kind) << 56 | rank << 32 | client;
}

struct PerfHello {
  // A server of dialogue 1 refuses every other value.
  std::uint64_t version = kDialogueFirst;
  std::uint64_t client = 0;  // its number; the high half is its newest dialogue, and 0 in dialogue 1
  std::array<std::uint64_t*, 2> fields() { return {&version, &client}; }

  static PerfHello of(std::uint32_t number) { return {kDialogueFirst, kDialogueNewest << 32 | number}; }
  std::uint32_t number() const { return static_cast<std::uint32_t>(client); }
  std::uint64_t dialogue() const { return client >> 32 ? client >> 32 : kDialogueFirst; }
};

enum class PerfAsk : std::uint64_t { step = 0, bye, member, group_step };

struct PerfStep {
  std::uint64_t ask = 0;   // PerfAsk; of bye nothing else counts
  std::uint64_t test = 0;  // PerfTest; of a group step PerfPattern
  std::uint64_t size = 0;
  std::uint64_t count = 0;  // of a group step for each pair of members
  std::uint64_t window = 1;
  std::uint64_t verify = 0, sync = 0, blocking = 0;
  std::array<std::uint64_t*, 8> fields() {
    return {&ask, &test, &size, &count, &window, &verify, &sync, &blocking};
  }
};

// A member of the group. The messages with ask = member come in the order of the ranks.
struct PerfMember {
  std::uint64_t ask = static_cast<std::uint64_t>(PerfAsk::member);
  std::uint64_t pattern = 0;  // PerfPattern
  std::uint64_t group = 0;    // the number in the match information of its data
  std::uint64_t members = 0;
  std::uint64_t receiver = 0;  // rank of the server that is asked
  std::uint64_t rank = 0;      // of the member that this message names
  std::uint64_t nic = 0, endpoint = 0;
  std::array<std::uint64_t*, 8> fields() {
    return {&ask, &pattern, &group, &members, &receiver, &rank, &nic, &endpoint};
  }
};

enum class PerfVerdict : std::uint64_t { fine = 0, version_differs, step_refused, data_wrong, unreached };

struct PerfAnswer {
  std::uint64_t verdict = 0;  // PerfVerdict
  // data_wrong: the number of the message. To a hello: the server's newest dialogue, and 0 in dialogue 1.
  std::uint64_t message = 0;
  // data_wrong: the offset in it. An offset beyond its size: the bytes behind it were overwritten.
  std::uint64_t offset = 0;
  // Since dialogue 2: what the server spent on the step (PerfUsage), and how long it took there.
  std::uint64_t known = 0, user_ns = 0, system_ns = 0, cycles = 0;
  std::uint64_t took_ns = 0;
  std::array<std::uint64_t*, 8> fields() {
    return {&verdict, &message, &offset, &known, &user_ns, &system_ns, &cycles, &took_ns};
  }
  PerfUsage usage() const { return {known, user_ns, system_ns, cycles}; }
  void set_usage(const PerfUsage& usage) {
    known = usage.known;
    user_ns = usage.user_ns;
    system_ns = usage.system_ns;
    cycles = usage.cycles;
  }
};

// A client of dialogue 1 has room for the first three words of an answer.
inline constexpr std::size_t kFirstAnswerBytes = 3 * 8;

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
