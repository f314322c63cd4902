// SPDX-License-Identifier: BSD-3-Clause
// The kinds of settings that choose the carrier of our frames.
#pragma once

#include <string>
#include <string_view>

#include "base/number.h"
#include "config/setting_enums.h"
#include "config/settings.h"
#include "netdev/xdp_mode.h"
#include "netdev/zerocopy_mode.h"

namespace omx::runtime {

struct LinkChoice {
  static bool parse(std::string_view text, Settings& s) {
    const auto kind = link_parse(text);
    if (kind) s.link = *kind;
    return kind.has_value();
  }
  static std::string print(const Settings& s) { return link_name(s.link); }
  static std::string accepted() {
    return "auto, ethernet (raw frames; needs CAP_NET_RAW), xdp (raw frames by AF_XDP; needs root), udp "
           "(IPv4 where there is an address, else IPv6), udp4 or udp6";
  }
};

struct XdpModeChoice {
  static bool parse(std::string_view text, Settings& s) {
    const auto mode = link::xdp_mode_parse(text);
    if (mode) s.xdp.mode = *mode;
    return mode.has_value();
  }
  static std::string print(const Settings& s) { return link::xdp_mode_name(s.xdp.mode); }
  static std::string accepted() { return "auto (the best there is), zerocopy, copy or generic"; }
};

struct ZerocopyChoice {
  static bool parse(std::string_view text, Settings& s) {
    const auto mode = link::zerocopy_mode_parse(text);
    if (mode) s.zerocopy = *mode;
    return mode.has_value();
  }
  static std::string print(const Settings& s) { return link::zerocopy_mode_name(s.zerocopy); }
  static std::string accepted() { return "auto (where that was measured to be cheaper), 0 or 1"; }
};

struct XdpQueue {
  static bool parse(std::string_view text, Settings& s) {
    const auto value = number_parse(text);
    if (text != "auto" && (!value || *value > 63)) return false;
    s.xdp.queue = text == "auto" ? link::kAnyQueue : static_cast<int>(*value);
    return true;
  }
  static std::string print(const Settings& s) {
    return s.xdp.queue == link::kAnyQueue ? "auto" : std::to_string(s.xdp.queue);
  }
  static std::string accepted() { return "auto (the first that is free) or a number from 0 to 63"; }
};

// The path of a Unix socket has 107 bytes at most.
struct BrokerChoice {
  static bool parse(std::string_view text, Settings& s) {
    if (text != "auto" && text != "off" && (text.empty() || text[0] != '/' || text.size() > 107))
      return false;
    s.broker = text;
    return true;
  }
  static std::string print(const Settings& s) { return s.broker; }
  static std::string accepted() { return "auto (the usual path), off, or a path of at most 107 characters"; }
};

}  // namespace omx::runtime
