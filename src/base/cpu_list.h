// SPDX-License-Identifier: BSD-3-Clause
// Processors as Linux writes them: lists ("0,2-5") and masks ("3d", "1,00000000").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace omx {

// Parses a list. Returns an empty one if `text` is no list or names a processor that a cpu_set_t cannot hold.
std::vector<int> cpu_list_parse(std::string_view text);
std::string cpu_list_text(const std::vector<int>& cpus);  // sorted
// Parses a hexadecimal mask with a comma between groups of eight digits. Returns an empty list if `text` is
// no mask, names no processor, or names one that a cpu_set_t cannot hold.
std::vector<int> cpu_mask_parse(std::string_view text);
std::string cpu_mask_text(const std::vector<int>& cpus);

}  // namespace omx
