// SPDX-License-Identifier: BSD-3-Clause
// Facts about this host and this build, as a report has them.
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"

namespace omx::tools {

std::string build_facts();        // version, compiler, options
std::string system_facts();       // kernel, distribution, processors, memory, limits
std::string interface_facts();    // every interface with its driver, from /sys
std::string environment_facts();  // variables of Open-MX, MX and libfabric; no others
// Returns the last lines of the kernel's log that name an interface, a driver of one, or the end of a
// process.
std::string kernel_log_facts();
// Returns the ends of the newest files of OMX_LOG_FILE.
std::string log_file_facts(const runtime::Settings& settings);
std::string settings_facts(const runtime::Settings& settings);  // those that differ from their default

// Returns the words of a text in the form of /etc/hosts or of the peers file: names of hosts, and addresses.
std::vector<std::string> words_in_table(const std::string& text);
// Returns at most `most` of the last lines.
std::string last_lines(const std::string& text, std::size_t most);

}  // namespace omx::tools
