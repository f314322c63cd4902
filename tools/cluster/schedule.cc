// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/schedule.h"

#include <algorithm>

namespace omx::tools {

// The circle method: the last host stays, and the others move on by one place in each round.
std::vector<Round> schedule_rounds(std::size_t hosts, std::size_t partners) {
  std::vector<Round> rounds;
  if (hosts < 2) return rounds;
  const std::size_t places = hosts + hosts % 2;  // an absent host makes the number even
  const std::size_t all = places - 1;
  const std::size_t wanted = partners == 0 ? all : std::min(partners, all);
  for (std::size_t i = 0; i < wanted; i++) {
    const std::size_t turn = i * all / wanted;  // spread over all rounds
    Round round;
    for (std::size_t place = 0; place < places / 2; place++) {
      const std::size_t a = place == 0 ? places - 1 : (turn + place) % all;
      const std::size_t b = (turn + all - place) % all;
      if (a < hosts && b < hosts) round.emplace_back(std::min(a, b), std::max(a, b));
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace omx::tools
