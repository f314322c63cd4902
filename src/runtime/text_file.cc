// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace omx::runtime {

Expected<std::string, int> text_file_read(const std::string& path) {
  constexpr std::size_t kLimit = 1 << 20;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected<int>(errno);
  std::string text;
  char buffer[4096];
  int error = 0;
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kLimit) error = EFBIG;
    if (error) break;
  }
  ::close(fd);
  if (error) return tl::unexpected<int>(error);
  return text;
}

}  // namespace omx::runtime
