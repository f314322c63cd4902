// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <algorithm>

namespace omx {

std::string shown(std::string_view text, std::size_t most) {
  std::string out(text.substr(0, most));
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  if (text.size() > most) out += "...";
  return out;
}

}  // namespace omx
