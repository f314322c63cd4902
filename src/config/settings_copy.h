// SPDX-License-Identifier: BSD-3-Clause
// The kinds of settings of copies of arriving data.
#pragma once

#include <string>
#include <string_view>

#include "config/setting_enums.h"
#include "config/settings_kinds.h"

namespace omx::runtime {

struct CopyEngineChoice {
  static bool parse(std::string_view text, Settings& s) {
    const auto kind = copy::engine_parse(text == "off" ? "cpu" : text);
    if (kind) s.copy.engine = *kind;
    return kind.has_value();
  }
  static std::string print(const Settings& s) { return copy::engine_name(s.copy.engine); }
  static std::string accepted() { return "auto (dsa where one works), cpu (or off), thread or dsa"; }
};

struct PlacementChoice {
  static bool parse(std::string_view text, Settings& s) {
    for (const Placement placement : {Placement::automatic, Placement::kernel, Placement::ring}) {
      if (text != placement_name(placement)) continue;
      s.placement = placement;
      return true;
    }
    return false;
  }
  static std::string print(const Settings& s) { return placement_name(s.placement); }
  static std::string accepted() { return "auto (the faster one, as tried or measured), kernel or ring"; }
};

struct CopyMinPiece : OrAutomatic<Bytes<&CopySettings::min_piece, 1, 1ULL << 30>> {
  static std::string accepted() { return "auto (as measured), or " + Bytes::accepted(); }
};

struct CopyMinMessage
    : OrAutomatic<Bytes<&CopySettings::min_message, 0, 1ULL << 30>, CopySettings::kAutomatic> {
  static std::string accepted() {
    return "auto (64 KiB, or more where messages end later by it), or " + Bytes::accepted();
  }
};

struct CopyMinWaited
    : OrAutomatic<Bytes<&CopySettings::min_waited, 0, 1ULL << 30>, CopySettings::kAutomatic> {
  static std::string accepted() {
    return "auto (1M, or 64K where the processors of this host do not share a cache), or " +
           Bytes::accepted();
  }
};

struct CopyWarm : OrAutomatic<Bytes<&CopySettings::warm, 0, 1ULL << 30>, CopySettings::kAutomatic> {
  static std::string accepted() {
    return "auto (16K where the engine leaves data in no cache of the reader, else 0), or " +
           Bytes::accepted();
  }
};

struct CopyChannels : OrAutomatic<Number<&CopySettings::channels, 1, 8>> {
  static std::string accepted() { return "auto (1 thread, 1 to 4 DSA queues), or " + Number::accepted(); }
};

}  // namespace omx::runtime
