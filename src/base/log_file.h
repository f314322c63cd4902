// SPDX-License-Identifier: BSD-3-Clause
// The file for messages (OMX_LOG_FILE). It is opened for each line and closed again, as lines are rare. So
// there is no descriptor that the application could close or a forked child could share. A child gets a file
// of its own, and the file may be moved away at any time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace omx {

// Returns the file's name: %h becomes the host's name, %p the process id, %% a percent sign. Returns nullopt
// if another letter follows a percent sign.
std::optional<std::string> log_file_name(std::string_view pattern);

// Sends lines from now on to the file of that pattern, relative to the current folder. Empty: to no file.
void log_file_set(const std::string& pattern);
// Opens the file once, so that a name that does not work is reported at the start.
void log_file_try();

// Appends the line, which ends in a newline, after the local time. Returns false when there is no file or it
// cannot be written. A file that cannot be written is reported once on stderr.
bool log_file_write(std::string_view line);

}  // namespace omx
