// SPDX-License-Identifier: BSD-3-Clause
#include "steering/xdp/steer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <utility>

#include "base/cpu_list.h"
#include "base/number.h"
#include "base/text.h"

namespace omx::steering {

namespace {

constexpr int kBadParameter = 1;  // MX_BAD_BAD_BAD

Result<std::uint32_t> cpu_check(int cpu, const std::vector<int>& online) {
  if (std::find(online.begin(), online.end(), cpu) == online.end()) {
    return fail(kBadParameter, fmt::format("there is no processor {} that is switched on; there are: {}", cpu,
                                           fmt::join(online, ",")));
  }
  return static_cast<std::uint32_t>(cpu);
}

tl::unexpected<Failure> bad_rule(std::string_view rule) {
  return fail(kBadParameter, fmt::format("--map \"{}\" is not ENDPOINT:PROCESSOR, as in 0:1,4-7:0, with "
                                         "endpoints from 0 to {}",
                                         shown(rule), kSteerEndpoints - 1));
}

// Applies one rule: "E:CPU" or "E-F:CPU". `mapped` marks the endpoints of earlier rules.
Result<void> rule_apply(SteerTable& table, std::bitset<kSteerEndpoints>& mapped, std::string_view rule,
                        const std::vector<int>& online) {
  const std::size_t colon = rule.find(':');
  if (colon == std::string_view::npos) return bad_rule(rule);
  const std::string_view range = rule.substr(0, colon);
  const std::size_t dash = range.find('-');
  const auto first = number_parse(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_parse(range.substr(dash + 1));
  const auto number = number_parse(rule.substr(colon + 1));
  if (!first || !last || !number || *first > *last || *last >= table.size()) return bad_rule(rule);
  const auto cpu = cpu_check(static_cast<int>(std::min<std::uint64_t>(*number, INT32_MAX)), online);
  if (!cpu) return tl::unexpected(cpu.error());
  for (std::size_t e = *first; e <= *last; e++) {
    if (mapped[e] && table[e] != *cpu)
      return fail(kBadParameter, fmt::format("--map gives endpoint {} to processor {} and to processor {}; "
                                             "leave out one of the two",
                                             e, table[e], *cpu));
    mapped.set(e);
    table[e] = *cpu;
  }
  return {};
}

// Returns, for each group of endpoints that are equal modulo `period`, the processor that most of them have.
std::vector<std::uint32_t> rule_of(const SteerTable& table, std::size_t period) {
  std::vector<std::uint32_t> rule(period);
  for (std::size_t place = 0; place < period; place++) {
    std::map<std::uint32_t, std::size_t> votes;
    for (std::size_t e = place; e < table.size(); e += period) votes[table[e]]++;
    rule[place] = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
                    return a.second < b.second;
                  })->first;
  }
  return rule;
}

// Returns the rule that takes the fewest words, exceptions included. A table with a period of all endpoints
// has no exceptions.
std::vector<std::uint32_t> best_rule(const SteerTable& table) {
  std::vector<std::uint32_t> best(table.begin(), table.end());
  std::size_t words = table.size();
  for (std::size_t period = 1; period < table.size(); period++) {
    std::vector<std::uint32_t> rule = rule_of(table, period);
    std::size_t now = period;
    for (std::size_t e = 0; e < table.size(); e++) now += table[e] == rule[e % period] ? 0 : 2;
    if (now >= words) continue;
    best = std::move(rule);
    words = now;
  }
  return best;
}

}  // namespace

Result<SteerTable> steer_table_make(std::string_view cpus, std::string_view map,
                                    const std::vector<int>& online) {
  const std::vector<int> chosen = cpus.empty() ? online : cpu_list_parse(cpus);
  if (chosen.empty()) {
    return fail(kBadParameter,
                fmt::format("--cpus \"{}\" is not a list of processors, as in 0,2-5", shown(cpus)));
  }
  SteerTable table;
  for (std::size_t e = 0; e < table.size(); e++) {
    const auto cpu = cpu_check(chosen[e % chosen.size()], online);
    if (!cpu) return tl::unexpected(cpu.error());
    table[e] = *cpu;
  }
  // Rules are separated by commas, and each is complete: "0:1,4-7:0".
  std::bitset<kSteerEndpoints> mapped;
  while (!map.empty()) {
    const std::size_t comma = map.find(',');
    if (const auto done = rule_apply(table, mapped, map.substr(0, comma), online); !done)
      return tl::unexpected(done.error());
    if (comma == std::string_view::npos) break;
    map.remove_prefix(comma + 1);
    if (map.empty()) return bad_rule(map);
  }
  return table;
}

std::string steer_table_text(const SteerTable& table) {
  const std::vector<std::uint32_t> rule = best_rule(table);
  std::string text = rule.size() == 1
                         ? fmt::format("on processor {}", rule[0])
                         : fmt::format("modulo {} on processors {}", rule.size(), fmt::join(rule, ","));
  const char* before = ", but ";
  for (std::size_t e = 0; e < table.size(); e++) {
    if (table[e] == rule[e % rule.size()]) continue;
    text += fmt::format("{}{} on {}", before, e, table[e]);
    before = ", ";
  }
  return text;
}

}  // namespace omx::steering
