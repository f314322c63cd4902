// SPDX-License-Identifier: BSD-3-Clause
#include "tools/host/file_replace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/own_fd.h"

namespace omx::tools {

bool is_special(const std::string& path) {
  struct stat about;
  const bool there = ::stat(path.c_str(), &about) == 0 || ::lstat(path.c_str(), &about) == 0;
  return there && !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode);
}

int file_replace(const std::string& path, const std::string& text) {
  const std::string name = path + ".new";
  if (::unlink(name.c_str()) < 0 && errno != ENOENT) return errno;
  const OwnFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.open()) return errno;
  const ssize_t written = ::write(fd.get(), text.data(), text.size());
  int error = written < 0 ? errno : written != static_cast<ssize_t>(text.size()) ? ENOSPC : 0;
  if (!error && (::fchmod(fd.get(), 0644) < 0 || ::rename(name.c_str(), path.c_str()) < 0)) error = errno;
  if (error) ::unlink(name.c_str());
  return error;
}

}  // namespace omx::tools
