// SPDX-License-Identifier: BSD-3-Clause
// libbpf prints to stderr what it thinks; we say one sentence, and keep the kernel's own words for it.
#pragma once

#include <string>

namespace omx::steering {

// For the process, and for good.
void libbpf_silence();
// What the kernel said about the last thing it refused, as " (...)", once; empty when it said nothing.
std::string libbpf_words();

}  // namespace omx::steering
