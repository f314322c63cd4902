// SPDX-License-Identifier: BSD-3-Clause
// The file for messages (OMX_LOG_FILE). It is opened for each line and closed again: lines are rare, and so
// the file needs no descriptor that the application could close or a forked child could share, a child gets
// a file of its own, and the file may be moved away at any time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace omx {

// The file's name: %h is the host's name, %p the process, %% a percent sign. nullopt: another letter follows
// a percent sign.
std::optional<std::string> log_file_name(std::string_view pattern);

// From now on lines go to the file of that pattern, relative to the present folder. Empty: to none.
void log_file_set(const std::string& pattern);
// Opens the file once, so that a name that does not work is reported at the start.
void log_file_try();

// Appends the line, which ends in a newline, behind the local time. Returns false when there is no such file
// or it cannot be written; why it cannot be written is said once on stderr.
bool log_file_write(std::string_view line);

}  // namespace omx
