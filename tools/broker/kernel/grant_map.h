// SPDX-License-Identifier: BSD-3-Clause
// The grants say what each sealed socket may send and receive. The broker writes them and the kernel's
// programs read them. A restarted broker finds them again by the egress program.
#pragma once

#include <array>
#include <cstdint>

#include "base/expected.h"
#include "base/own_fd.h"

namespace omx::broker {

// The mark of a sealed socket is the magic number and the slot of its grant.
inline constexpr std::uint32_t kMarkMagic = 0x4F4D0000;
inline constexpr std::uint32_t kMarkMask = 0xFFFF0000;
inline constexpr std::uint32_t kSlots = 4096;  // grants of a host
inline constexpr std::uint32_t kUsers = 1024;  // users with a rate, of whom number 0 stands for "no limit"

// One slot. All zero: no grant.
struct Grant {
  std::uint64_t cookie = 0;           // SO_COOKIE of the only socket that may send
  std::array<std::uint8_t, 6> mac{};  // source address that its frames must have
  std::uint8_t endpoint = 0;          // source endpoint that its frames must have
  std::uint8_t spare = 0;
  std::uint32_t max_frame = 0;  // bytes, Ethernet header included
  std::uint32_t uid = 0;
  std::uint32_t pid = 0;
  std::uint32_t ifindex = 0;  // of the NIC
  std::uint32_t user = 0;     // number of the user's rate, or 0
  std::uint32_t classes = 0;  // number of the map that the filters of its sockets read
  std::uint64_t started = 0;  // start time of the process, from /proc/PID/stat
  bool operator==(const Grant&) const = default;
};
static_assert(sizeof(Grant) == 48);

// Counts of the egress program. All but the first two are frames that it dropped. The first two may be short
// by some when threads send by the socket at once.
struct GrantCounters {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bad_type = 0;      // another ethertype, or a packet that only the broker sends
  std::uint64_t bad_source = 0;    // another source address
  std::uint64_t bad_endpoint = 0;  // another source endpoint
  std::uint64_t bad_size = 0;      // longer than max_frame or shorter than any packet
  std::uint64_t too_fast = 0;
  std::uint64_t revoked = 0;  // no grant, or from another socket than its
  // Returns the frames that a user may not send, however slowly.
  std::uint64_t not_allowed() const { return bad_type + bad_source + bad_endpoint + bad_size; }
  bool operator==(const GrantCounters&) const = default;
};

// How fast all sockets of a user together may send (GCRA). A frame is dropped when next_ns lies more than
// burst_ns ahead. The program alone moves next_ns.
struct UserRate {
  std::uint64_t ns_per_kib = 0;
  std::uint64_t burst_ns = 0;
  std::uint64_t next_ns = 0;  // CLOCK_MONOTONIC
};

struct GrantMaps {
  OwnFd grants;  // array of kSlots Grants
  OwnFd counts;  // array of kSlots GrantCounters
  OwnFd users;   // array of kUsers UserRates
};

Result<GrantMaps> grant_maps_make();
// Opens the maps that a loaded egress program uses. Fails if they are those of another version.
Result<GrantMaps> grant_maps_of(int program);

// Read and write one slot. Return 0 or errno. The programs see the old grant, none, or the new one, if a slot
// is cleared before it gets another socket.
int grant_read(const GrantMaps& maps, std::uint32_t slot, Grant& grant);
int grant_write(const GrantMaps& maps, std::uint32_t slot, const Grant& grant);
// Revokes the grant: its sockets send and receive nothing more. Frames on their way may still pass.
int grant_clear(const GrantMaps& maps, std::uint32_t slot);
int grant_counters_read(const GrantMaps& maps, std::uint32_t slot, GrantCounters& counters);
int grant_counters_clear(const GrantMaps& maps, std::uint32_t slot);
int user_rate_read(const GrantMaps& maps, std::uint32_t user, UserRate& rate);
int user_rate_write(const GrantMaps& maps, std::uint32_t user, const UserRate& rate);
// Notes that a board is served in trusted mode, whose sockets may outlive the broker. The note stays with the
// maps.
int trusted_note(const GrantMaps& maps);
bool trusted_noted(const GrantMaps& maps);

}  // namespace omx::broker
