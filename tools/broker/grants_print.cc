// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/grants_print.h"

#include <fmt/format.h>
#include <net/if.h>

#include <array>
#include <iterator>

#include "netdev/interfaces.h"
#include "tools/broker/accounts.h"
#include "tools/broker/adoption.h"
#include "tools/broker/set_up.h"

namespace omx::broker {

namespace {

std::string interface_name(std::uint32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(index, name.data()) ? name.data() : "gone";
}

}  // namespace

Result<std::string> grants_text(const Policy& policy) {
  const auto choices = policy.boards_choose(link::interfaces_list());
  if (!choices) return tl::unexpected(choices.error());
  const auto maps = maps_find(*choices, networks_folder(policy));
  if (!maps) return tl::unexpected(maps.error());
  const Accounts accounts = accounts_of_host();
  std::string text = fmt::format("{:<20} {:>9} {:<16} {:>8} {:>12} {:>15} {:>12} {:>10}\n", "user", "process",
                                 "board", "endpoint", "frames", "bytes", "not allowed", "too fast");
  auto out = std::back_inserter(text);
  for (std::uint32_t slot = 0; slot < kSlots; slot++) {
    Grant grant;
    GrantCounters counts;
    if (grant_read(*maps, slot, grant) != 0 || grant.cookie == 0) continue;
    grant_counters_read(*maps, slot, counts);
    fmt::format_to(out, "{:<20} {:>9} {:<16} {:>8} {:>12} {:>15} {:>12} {:>10}\n",
                   user_text(accounts.user(grant.uid)), grant.pid, interface_name(grant.ifindex),
                   grant.endpoint, counts.frames, counts.bytes, counts.not_allowed(), counts.too_fast);
  }
  return text;
}

}  // namespace omx::broker
