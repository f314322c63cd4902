// SPDX-License-Identifier: BSD-3-Clause
// Processors as Linux writes them: lists ("0,2-5") and masks ("3d", "1,00000000").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace omx {

// Empty when it is none, or names a processor that a cpu_set_t cannot hold.
std::vector<int> cpu_list_parse(std::string_view text);
std::string cpu_list_text(const std::vector<int>& cpus);  // of sorted ones
// Hexadecimal, with a comma between groups of eight digits. Empty when it is none, names no processor, or one
// that a cpu_set_t cannot hold.
std::vector<int> cpu_mask_parse(std::string_view text);
std::string cpu_mask_text(const std::vector<int>& cpus);

}  // namespace omx
