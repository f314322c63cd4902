// SPDX-License-Identifier: BSD-3-Clause
// The kinds of values that rows of the settings table have. A kind says how a value is read, printed and
// described.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/number.h"
#include "base/setting_text.h"
#include "config/settings.h"

namespace omx::runtime {

// Returns the part of Settings that a member of `Part` belongs to, so that the table handles all members in
// the same way.
template <class Part>
Part& part_of(Settings& s);
template <>
inline Settings& part_of(Settings& s) {
  return s;
}
template <>
inline protocol::Config& part_of(Settings& s) {
  return s.protocol;
}
template <>
inline protocol::ReliabilityConfig& part_of(Settings& s) {
  return s.protocol.reliability;
}
template <>
inline IntraNodeSettings& part_of(Settings& s) {
  return s.intra_node;
}
template <>
inline WaitSettings& part_of(Settings& s) {
  return s.waiting;
}
template <>
inline XdpSettings& part_of(Settings& s) {
  return s.xdp;
}
template <>
inline CopySettings& part_of(Settings& s) {
  return s.copy;
}
template <class Part, class T>
T& member(Settings& s, T Part::*field) {
  return part_of<Part>(s).*field;
}
template <class Part, class T>
const T& member(const Settings& s, T Part::*field) {
  return part_of<Part>(const_cast<Settings&>(s)).*field;
}

template <auto Field>
struct Text {
  static bool parse(std::string_view text, Settings& s) {
    member(s, Field) = text;
    return true;
  }
  static std::string print(const Settings& s) { return member(s, Field); }
  static std::string accepted() { return "a text"; }
};

template <auto Field>
struct Boolean {
  static bool parse(std::string_view text, Settings& s) {
    const auto value = boolean_parse(text);
    if (value) member(s, Field) = *value;
    return value.has_value();
  }
  static std::string print(const Settings& s) { return member(s, Field) ? "1" : "0"; }
  static std::string accepted() { return "0 or 1"; }
};

template <auto Field, std::uint64_t Low, std::uint64_t High>
struct Number {
  static constexpr auto kField = Field;
  static bool parse(std::string_view text, Settings& s) {
    const auto value = number_parse(text);
    if (!value || *value < Low || *value > High) return false;
    auto& field = member(s, Field);
    field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
    return true;
  }
  static std::string print(const Settings& s) { return std::to_string(member(s, Field)); }
  static std::string accepted() { return number_accepted(Low, High); }
};

// A number of bytes; K, M or G may follow.
template <auto Field, std::uint64_t Low, std::uint64_t High>
struct Bytes : Number<Field, Low, High> {
  static bool parse(std::string_view text, Settings& s) {
    const auto value = number_parse_units(text, 1024);
    return value && Number<Field, Low, High>::parse(std::to_string(*value), s);
  }
  static std::string accepted() { return number_accepted(Low, High) + " bytes; K, M or G may follow"; }
};

// A setting of which one value, given as "auto", stands for what is measured or chosen. `Kind` has the
// others.
template <class Kind, auto Automatic = 0U>
struct OrAutomatic : Kind {
  static bool parse(std::string_view text, Settings& s) {
    if (text != "auto") return Kind::parse(text, s);
    member(s, Kind::kField) = Automatic;
    return true;
  }
  static std::string print(const Settings& s) {
    return member(s, Kind::kField) == Automatic ? "auto" : Kind::print(s);
  }
};

// A time, kept in nanoseconds and given in units of `Unit` nanoseconds.
template <auto Field, std::uint64_t Unit, std::uint64_t Low, std::uint64_t High, bool ZeroIsNever = false>
struct Duration {
  static_assert(Unit == 1000 || Unit == 1'000'000);
  static bool parse(std::string_view text, Settings& s) {
    const auto value = number_parse(text);
    if (!value || *value < Low || *value > High) return false;
    member(s, Field) = ZeroIsNever && *value == 0 ? protocol::kNever : *value * Unit;
    return true;
  }
  static std::string print(const Settings& s) {
    const std::uint64_t value = member(s, Field);
    return std::to_string(value == protocol::kNever ? 0 : value / Unit);
  }
  static std::string accepted() {
    return number_accepted(Low, High) + (Unit == 1000 ? " microseconds" : " milliseconds") +
           (ZeroIsNever ? "; 0 = no limit" : "");
  }
};

}  // namespace omx::runtime
