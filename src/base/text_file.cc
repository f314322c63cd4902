// SPDX-License-Identifier: BSD-3-Clause
#include "base/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace omx {

Expected<std::string, int> text_file_read(const std::string& path, std::size_t most) {
  // O_NONBLOCK: the open must not wait for a process that writes into a named pipe.
  return text_file_read(OwnFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), most);
}

Expected<std::string, int> text_file_read(const OwnFd& fd, std::size_t most) {
  if (!fd.open()) return tl::unexpected<int>(errno);
  struct stat about;
  if (::fstat(fd.get(), &about) < 0) return tl::unexpected<int>(errno);
  if (!S_ISREG(about.st_mode)) return tl::unexpected<int>(kNotRegularFile);
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected<int>(errno);
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > most) return tl::unexpected<int>(EFBIG);
  }
}

std::string text_file_error(int error) {
  return error == kNotRegularFile ? "it is not a regular file" : std::strerror(error);
}

Expected<std::string, int> line_read(const std::string& path) {
  auto text = text_file_read(path);
  if (!text) return tl::unexpected<int>(text.error());
  return text->substr(0, text->find('\n'));
}

std::vector<std::string> folder_list(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(path, error), end; !error && i != end; i.increment(error)) {
    names.push_back(i->path().filename().string());
  }
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
  return names;
}

}  // namespace omx
