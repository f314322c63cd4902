// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/own_fd.h"

namespace omx::tuning {

namespace fs = std::filesystem;

namespace {

Expected<std::string, int> file_read(const std::string& path) {
  const OwnFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open()) return tl::unexpected<int>(errno);
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected<int>(errno);
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace

Expected<std::string, int> line_read(const Machine& machine, const std::string& path) {
  auto text = file_read(machine.root + path);
  if (!text) return tl::unexpected<int>(text.error());
  return text->substr(0, text->find('\n'));
}

std::optional<std::string> line_if_any(const Machine& machine, const std::string& path) {
  auto line = line_read(machine, path);
  if (!line) return std::nullopt;
  return std::move(*line);
}

int line_write(const Machine& machine, const std::string& path, const std::string& line) {
  const OwnFd fd(::open((machine.root + path).c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC));
  if (!fd.open()) return errno;
  const std::string text = line + '\n';
  const ssize_t n = ::write(fd.get(), text.data(), text.size());
  if (n < 0) return errno;
  return static_cast<std::size_t>(n) == text.size() ? 0 : EIO;
}

std::string text_read(const Machine& machine, const std::string& path) {
  return file_read(machine.root + path).value_or(std::string{});
}

std::vector<std::string> folder_list(const Machine& machine, const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(machine.root + path, error), end; !error && i != end; i.increment(error)) {
    names.push_back(i->path().filename().string());
  }
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
  return names;
}

bool sysfs_shows(const Machine& machine, const link::Interface& interface) {
  const std::string folder = "/sys/class/net/" + interface.name;
  const auto index = line_read(machine, folder + "/ifindex");
  const auto address = line_read(machine, folder + "/address");
  return index && address && *index == std::to_string(interface.index) &&
         (interface.nic == 0 || mac_parse(*address) == interface.nic);
}

}  // namespace omx::tuning
