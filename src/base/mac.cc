// SPDX-License-Identifier: BSD-3-Clause
#include "base/mac.h"

#include <cctype>

namespace omx {

std::string mac_format(NicId nic) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(17);
  for (int shift = 40; shift >= 0; shift -= 8) {
    if (!text.empty()) text += ':';
    text += kDigits[(nic >> (shift + 4)) & 15];
    text += kDigits[(nic >> shift) & 15];
  }
  return text;
}

std::optional<NicId> mac_parse(std::string_view text) {
  if (text.size() != 17) return std::nullopt;
  NicId nic = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (i % 3 == 2) {
      if (c != ':' && c != '-') return std::nullopt;
      continue;
    }
    if (!std::isxdigit(c)) return std::nullopt;
    const int digit = std::isdigit(c) ? c - '0' : std::tolower(c) - 'a' + 10;
    nic = (nic << 4) | static_cast<NicId>(digit);
  }
  return nic;
}

}  // namespace omx
