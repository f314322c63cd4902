// SPDX-License-Identifier: BSD-3-Clause
#include "steering/flow_rule.h"

#include <fmt/format.h>

#include <limits>

#include "base/number.h"

namespace omx::steering {

namespace {

constexpr std::string_view kAny = "any";

// Returns the text before `end`, and removes both from `text`.
std::optional<std::string_view> part_take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + 1);
  return part;
}

template <class Number>
bool number_take(std::string_view text, Number& value) {
  const auto number = number_parse(text);
  if (!number || *number > std::numeric_limits<Number>::max()) return false;
  value = static_cast<Number>(*number);
  return true;
}

}  // namespace

std::string flow_name(const FlowRule& rule) {
  return fmt::format("udp{}:{}:{}@{}", rule.ipv6 ? 6 : 4, rule.port, rule.queue,
                     rule.place == kAnyPlace ? std::string(kAny) : std::to_string(rule.place));
}

std::optional<FlowRule> flow_parse(std::string_view name) {
  FlowRule rule;
  const auto family = part_take(name, ':');
  const auto port = part_take(name, ':');
  const auto queue = part_take(name, '@');
  if (!family || !port || !queue || (family != "udp4" && family != "udp6")) return std::nullopt;
  rule.ipv6 = family == "udp6";
  if (!number_take(*port, rule.port) || !number_take(*queue, rule.queue)) return std::nullopt;
  if (name != kAny && (!number_take(name, rule.place) || rule.place == kAnyPlace)) return std::nullopt;
  return rule;
}

}  // namespace omx::steering
