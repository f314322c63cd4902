// SPDX-License-Identifier: BSD-3-Clause
// Writes entries of the catalogue of messages in the forms of omx explain.
#pragma once

#include <string>
#include <vector>

#include "base/messages/catalogue.h"

namespace omx::tools {

// Returns one line for each entry, below the titles of the sections.
std::string explain_list(const std::vector<const messages::Entry*>& entries);
// Returns everything about one entry.
std::string explain_text(const messages::Entry& entry);
std::string explain_json(const std::vector<const messages::Entry*>& entries);
// Returns the part of docs/reference/errors.md that is made from the catalogue.
std::string explain_markdown();

}  // namespace omx::tools
