// SPDX-License-Identifier: BSD-3-Clause
#include "steering/xdp/libbpf_quiet.h"

#include <bpf/libbpf.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace omx::steering {

namespace {

// libbpf passes on a driver's reason for a refused attachment ("Peer MTU is too large to set XDP") only in
// this line.
constexpr std::string_view kKernelSays = "Kernel error message: ";

thread_local std::string words;

int keep(enum libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  std::array<char, 256> line{};
  const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
  const std::string_view text(line.data());
  const std::size_t at = text.find(kKernelSays);
  if (at != std::string_view::npos) words = text.substr(at + kKernelSays.size());
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  return length;
}

}  // namespace

void libbpf_silence() {
  ::libbpf_set_print(keep);
}

std::string libbpf_words() {
  const std::string said = std::exchange(words, {});
  return said.empty() ? said : " (" + shown(said, 120) + ")";
}

}  // namespace omx::steering
