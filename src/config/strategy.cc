// SPDX-License-Identifier: BSD-3-Clause
#include "config/strategy.h"

#include <fmt/format.h>

#include "base/number.h"

namespace omx::runtime {

namespace {

constexpr Strategy kAll[] = {Strategy::frame, Strategy::timer, Strategy::message, Strategy::stream,
                             Strategy::adaptive};

std::optional<Strategy> strategy_parse(std::string_view text) {
  for (const Strategy strategy : kAll)
    if (text == strategy_name(strategy)) return strategy;
  return std::nullopt;
}

}  // namespace

const char* strategy_name(Strategy strategy) {
  switch (strategy) {
    case Strategy::frame:
      return "frame";
    case Strategy::timer:
      return "timer";
    case Strategy::message:
      return "message";
    case Strategy::stream:
      return "stream";
    case Strategy::adaptive:
      break;
  }
  return "adaptive";
}

std::optional<Strategies> Strategies::parse(std::string_view text) {
  Strategies result;
  for (bool first = true, more = true; more; first = false) {
    const std::size_t comma = text.find(',');
    more = comma != text.npos;
    const std::string_view part = text.substr(0, comma);
    if (more) text.remove_prefix(comma + 1);
    const std::size_t colon = part.find(':');
    const auto strategy = strategy_parse(colon == part.npos ? part : part.substr(colon + 1));
    if (!strategy) return std::nullopt;
    if (colon == part.npos) {
      if (!first) return std::nullopt;
      result.all_ = *strategy;
    } else {
      const auto endpoint = number_parse(part.substr(0, colon));
      if (!endpoint || *endpoint >= result.own_.size() || result.own_[*endpoint]) return std::nullopt;
      result.own_[*endpoint] = *strategy;
    }
  }
  return result;
}

std::string Strategies::print() const {
  std::string text = strategy_name(all_);
  for (std::size_t i = 0; i < own_.size(); i++)
    if (own_[i]) text += fmt::format(",{}:{}", i, strategy_name(*own_[i]));
  return text;
}

}  // namespace omx::runtime
