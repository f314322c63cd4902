// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/own_fd.h"

namespace omx::tuning {

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

}  // namespace omx::tuning
