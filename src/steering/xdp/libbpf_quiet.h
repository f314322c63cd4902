// SPDX-License-Identifier: BSD-3-Clause
// Keeps libbpf from printing to stderr, and saves the kernel's own words for our messages.
#pragma once

#include <string>

namespace omx::steering {

// Silences libbpf for the rest of the process.
void libbpf_silence();
// Returns what the kernel said about the last thing it refused, as " (...)", once. Empty when it said
// nothing.
std::string libbpf_words();

}  // namespace omx::steering
