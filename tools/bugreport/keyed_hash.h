// SPDX-License-Identifier: BSD-3-Clause
// SipHash-2-4 (Aumasson and Bernstein, 2012): a hash that tells nothing about its input without the key.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace omx::tools {

using HashKey = std::array<std::uint64_t, 2>;

std::uint64_t keyed_hash(const HashKey& key, std::string_view text);

// Returns the key that a word stands for.
HashKey hash_key_of(std::string_view word);
// Returns a key that is drawn at random.
HashKey hash_key_random();

}  // namespace omx::tools
