// SPDX-License-Identifier: BSD-3-Clause
// Finds the messages that a user asks about.
#pragma once

#include <string_view>
#include <vector>

#include "base/messages/catalogue.h"

namespace omx::tools {

struct Explained {
  std::vector<const messages::Entry*> entries;  // by number
  int number = 0;                               // not 0: this number was asked for
};

std::vector<const messages::Entry*> messages_all();

// Finds by number ("E401", "401"), by a line that begins with a number or contains a whole text of the
// catalogue, or else by words: in titles and texts first, then in explanations. Case does not matter.
Explained explain_find(std::string_view query);

}  // namespace omx::tools
