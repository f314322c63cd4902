// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/grant_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "netdev/bpf_call.h"
#include "netdev/open_failure.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/kernel_failure.h"

namespace omx::broker {

namespace {

constexpr ArrayKind kGrants = {"omx_grants", sizeof(Grant), kSlots, 0};
constexpr ArrayKind kCounts = {"omx_counts", sizeof(GrantCounters), kSlots, 0};
constexpr ArrayKind kRates = {"omx_users", sizeof(UserRate), kUsers, 0};
constexpr std::size_t kMostMaps = 8;  // of a program that we look at

struct Place {
  const ArrayKind& kind;
  OwnFd GrantMaps::*map;
};
constexpr std::array<Place, 3> kPlaces = {
    {{kGrants, &GrantMaps::grants}, {kCounts, &GrantMaps::counts}, {kRates, &GrantMaps::users}}};

bool is_kind(const bpf_map_info& info, const ArrayKind& kind) {
  return std::string_view(info.name) == kind.name && info.type == BPF_MAP_TYPE_ARRAY &&
         info.value_size == kind.value_bytes && info.max_entries == kind.entries;
}

}  // namespace

Result<GrantMaps> grant_maps_make() {
  GrantMaps maps;
  for (const Place& place : kPlaces) {
    auto made = ebpf_array_make(place.kind);
    if (!made) return tl::unexpected(std::move(made.error()));
    maps.*place.map = std::move(*made);
  }
  return maps;
}

Result<GrantMaps> grant_maps_of(int program) {
  std::array<std::uint32_t, kMostMaps> ids{};
  bpf_prog_info facts{};
  facts.nr_map_ids = ids.size();
  facts.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  if (!link::bpf_info_read(program, &facts, sizeof facts))
    return tl::unexpected(kernel_failure("read the facts of the egress program", errno));
  GrantMaps maps;
  for (std::size_t i = 0; i < std::min<std::size_t>(facts.nr_map_ids, ids.size()); i++) {
    OwnFd map = link::bpf_by_id(BPF_MAP_GET_FD_BY_ID, ids[i]);
    bpf_map_info info{};
    if (!map.open() || !link::bpf_info_read(map.get(), &info, sizeof info))
      return tl::unexpected(kernel_failure("open a map of the egress program", errno));
    const auto place = std::find_if(kPlaces.begin(), kPlaces.end(),
                                    [&](const Place& one) { return is_kind(info, one.kind); });
    if (place != kPlaces.end()) maps.*place->map = std::move(map);
  }
  for (const Place& place : kPlaces)
    if (!(maps.*place.map).open())
      return fail(link::kFailure,
                  fmt::format("the egress program in force is of another version, as its map {} differs; "
                              "remove it when no job uses it: omxd --clean",
                              place.kind.name));
  return maps;
}

int grant_read(const GrantMaps& maps, std::uint32_t slot, Grant& grant) {
  return ebpf_array_read(maps.grants.get(), slot, &grant);
}

// The kernel copies a value piece by piece. Without its cookie a grant is none, so the cookie comes last and
// goes first.
int grant_write(const GrantMaps& maps, std::uint32_t slot, const Grant& grant) {
  Grant dormant = grant;
  dormant.cookie = 0;
  if (const int error = ebpf_array_write(maps.grants.get(), slot, &dormant)) return error;
  return ebpf_array_write(maps.grants.get(), slot, &grant);
}

int grant_clear(const GrantMaps& maps, std::uint32_t slot) {
  Grant dormant;
  if (const int error = grant_read(maps, slot, dormant)) return error;
  dormant.cookie = 0;
  if (const int error = ebpf_array_write(maps.grants.get(), slot, &dormant)) return error;
  const Grant none;
  return ebpf_array_write(maps.grants.get(), slot, &none);
}

int grant_counters_read(const GrantMaps& maps, std::uint32_t slot, GrantCounters& counters) {
  return ebpf_array_read(maps.counts.get(), slot, &counters);
}

int grant_counters_clear(const GrantMaps& maps, std::uint32_t slot) {
  const GrantCounters none;
  return ebpf_array_write(maps.counts.get(), slot, &none);
}

int user_rate_read(const GrantMaps& maps, std::uint32_t user, UserRate& rate) {
  return ebpf_array_read(maps.users.get(), user, &rate);
}

int user_rate_write(const GrantMaps& maps, std::uint32_t user, const UserRate& rate) {
  return ebpf_array_write(maps.users.get(), user, &rate);
}

// No user has the number 0, so no program reads its rate.
int trusted_note(const GrantMaps& maps) {
  UserRate note;
  note.burst_ns = 1;
  return user_rate_write(maps, 0, note);
}

bool trusted_noted(const GrantMaps& maps) {
  UserRate note;
  return user_rate_read(maps, 0, note) != 0 || note.burst_ns != 0;
}

}  // namespace omx::broker
