// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bugreport/keyed_hash.h"

#include <bit>
#include <cstddef>
#include <random>

namespace omx::tools {

namespace {

struct State {
  std::uint64_t a, b, c, d;

  void mix(int rounds) {
    for (int i = 0; i < rounds; i++) {
      a += b, c += d;
      b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b, a += d;
      b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }

  void add(std::uint64_t word) {
    d ^= word;
    mix(2);
    a ^= word;
  }
};

// Returns up to eight characters as a number, the first one in its lowest byte.
std::uint64_t word_of(std::string_view text) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); i++)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  return word;
}

}  // namespace

std::uint64_t keyed_hash(const HashKey& key, std::string_view text) {
  State state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
              key[1] ^ 0x7465646279746573};
  const std::uint64_t size = text.size();
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t)))
    state.add(word_of(text.substr(0, sizeof(std::uint64_t))));
  state.add(word_of(text) | size << 56);
  state.c ^= 0xff;
  state.mix(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

HashKey hash_key_of(std::string_view word) {
  return {keyed_hash({0, 0}, word), keyed_hash({0, 1}, word)};
}

HashKey hash_key_random() {
  std::random_device device;
  const auto number = [&] { return static_cast<std::uint64_t>(device()) << 32 | device(); };
  return {number(), number()};
}

}  // namespace omx::tools
