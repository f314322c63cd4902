// SPDX-License-Identifier: BSD-3-Clause
// The catalogue of errors and warnings: a number for each, and what it means. The layers make and return
// plain sentences. Whatever prints a sentence looks its number up by its text, so no layer passes numbers
// around.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/messages/entry.h"

namespace omx::messages {

std::span<const Section* const> sections();

// Returns nullptr if no message has the number.
const Entry* entry_find(int number);

// Returns the entry of the text that is found in `line` and has the most characters that never differ, or
// nullptr. A sentence that contains another one is recognised by whichever says more. A text that begins with
// "; " goes on with sentences of several entries, and counts only where no other text is found.
const Entry* entry_recognise(std::string_view line);

// Returns the number as it is printed: E403.
std::string entry_id(const Entry& entry);

// Returns what is printed in front of a sentence: "E403: ", or nothing if the catalogue does not have it.
std::string tag(std::string_view sentence);

}  // namespace omx::messages
