// SPDX-License-Identifier: BSD-3-Clause
// Which frames wake a sleeping thread. Each endpoint of a process may have its own strategy
// (docs/explanation/waiting.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace omx::runtime {

enum class Strategy : std::uint8_t {
  frame,    // every frame wakes
  timer,    // the first frame after a pause, then only a timer
  message,  // the first frame after a pause, then solicited frames and the timer
  stream,   // as message, but solicited frames that follow each other closely wake once, after the last
  adaptive  // as message while most frames end no wait, as frame while each message is a frame or two
};

const char* strategy_name(Strategy strategy);

// The strategy of each endpoint of a process.
class Strategies {
 public:
  Strategy of(std::uint8_t endpoint) const { return own_[endpoint].value_or(all_); }
  // Parses "message", or "message,3:frame,4:timer" with other strategies at some endpoints. Returns nullopt
  // if the text is malformed, or names an endpoint twice.
  static std::optional<Strategies> parse(std::string_view text);
  std::string print() const;

 private:
  Strategy all_ = Strategy::adaptive;
  std::array<std::optional<Strategy>, 256> own_;
};

}  // namespace omx::runtime
