// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/cgroup_path.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace omx::broker {

namespace {

constexpr std::string_view kVersion2 = "0::";  // the line of /proc/self/cgroup
constexpr std::size_t kRoot = 3, kMountPoint = 4;

// Returns the next line, and removes it from `text`.
std::string_view line_take(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_octal(char digit) {
  return digit >= '0' && digit <= '7';
}

// Blanks in paths are written as \040.
std::string unescaped(std::string_view path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); i++) {
    if (path[i] == '\\' && i + 3 < path.size() && is_octal(path[i + 1]) && is_octal(path[i + 2]) &&
        is_octal(path[i + 3])) {
      out += static_cast<char>((path[i + 1] - '0') * 64 + (path[i + 2] - '0') * 8 + (path[i + 3] - '0'));
      i += 3;
    } else {
      out += path[i];
    }
  }
  return out;
}

// Returns what is behind `root` in `path`, or nullopt if it does not lie there.
std::optional<std::string> below(const std::string& root, std::string_view path) {
  if (root == "/") return std::string(path == "/" ? "" : path);
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return std::string(path);
}

}  // namespace

std::optional<std::string> cgroup_folder(std::string_view mountinfo, std::string_view own_cgroup) {
  std::optional<std::string_view> own;
  while (!own_cgroup.empty()) {
    const std::string_view line = line_take(own_cgroup);
    if (line.starts_with(kVersion2)) own = line.substr(kVersion2.size());
  }
  if (!own) return std::nullopt;
  while (!mountinfo.empty()) {
    const auto words = words_of(line_take(mountinfo));
    const auto dash = std::find(words.begin(), words.end(), "-");  // optional words end there
    if (words.size() <= kMountPoint || words.end() - dash < 2 || dash[1] != "cgroup2") continue;
    const auto rest = below(unescaped(words[kRoot]), *own);
    if (rest) return unescaped(words[kMountPoint]) + *rest;
  }
  return std::nullopt;
}

}  // namespace omx::broker
