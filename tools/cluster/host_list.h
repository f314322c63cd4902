// SPDX-License-Identifier: BSD-3-Clause
// The hosts that `omx check --hosts` is given.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"

namespace omx::tools {

inline constexpr std::size_t kHostsMost = 4096;

// Reads "h1,h2", "node[01-16,20]", or the name of a file with a host at the beginning of each line, as MPI's
// host files have it. Fails for names that ssh could take for options, and for hosts that come twice.
Result<std::vector<std::string>> host_list(const std::string& text);

// Returns the words of a command, with {host} and {omx} replaced. Adds the program if no word has {omx}.
std::vector<std::string> launch_words(const std::string& launch, const std::string& host,
                                      const std::string& program);

}  // namespace omx::tools
