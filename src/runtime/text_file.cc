// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace omx::runtime {

Expected<std::string, int> text_file_read(const std::string& path) {
  constexpr std::size_t kLimit = 1 << 20;
  // Not to wait for whoever writes into a named pipe.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return tl::unexpected<int>(errno);
  std::string text;
  char buffer[4096];
  struct stat about;
  int error = ::fstat(fd, &about) < 0 ? errno : S_ISREG(about.st_mode) ? 0 : kNotRegularFile;
  while (!error) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kLimit) error = EFBIG;
  }
  ::close(fd);
  if (error) return tl::unexpected<int>(error);
  return text;
}

std::string text_file_error(int error) {
  return error == kNotRegularFile ? "it is not a regular file" : std::strerror(error);
}

}  // namespace omx::runtime
