// SPDX-License-Identifier: BSD-3-Clause
#include "base/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/fork_guard.h"
#include "base/host_name.h"
#include "base/messages/catalogue.h"
#include "base/no_cancel.h"
#include "base/own_fd.h"
#include "base/text.h"

namespace omx {

namespace {

// Never freed: a thread may be writing while another thread sets a new name.
struct LogFile {
  std::string pattern;
  ForkMark made;
  std::atomic<bool> complained{false};
  LogFile* earlier = nullptr;
};
std::atomic<LogFile*> g_file{nullptr};
std::atomic<LogFile*> g_newest{nullptr};  // head of the list of all that were ever made

std::string host_name_in_path() {
  std::string name = host_name("host");
  std::ranges::replace(name, '/', '_');
  return name;
}

// Avoids localtime_r() in a forked child: the child may have inherited its lock locked. The child keeps the
// difference to UTC that its parent knew.
std::string time_text(const ForkMark& made) {
  static std::atomic<long> east_of_utc{0};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm local{};
  if (!made.forked() && ::localtime_r(&now.tv_sec, &local)) {
    east_of_utc.store(local.tm_gmtoff, std::memory_order_relaxed);
  } else {
    const std::time_t shifted = now.tv_sec + east_of_utc.load(std::memory_order_relaxed);
    ::gmtime_r(&shifted, &local);
  }
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} ", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1'000'000);
}

void complain(LogFile& file, const std::string& path, int error) {
  if (file.complained.exchange(true)) return;
  const std::string why =
      fmt::format("cannot write the log file {}: {}; {}; messages go to stderr", shown(path, kPathShown),
                  std::strerror(error),
                  error == EMFILE ? "raise the limit of open files (ulimit -n)"
                                  : "name a file in OMX_LOG_FILE that this process may write");
  const std::string line = fmt::format("OMX: warning: {}{}\n", messages::tag(why), why);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

// Appends `text`. Returns whether that worked.
bool append(LogFile& file, std::string_view text) {
  const auto path = log_file_name(file.pattern);
  if (!path) return false;
  const NoCancel no_cancel;
  // O_NONBLOCK: a named pipe without a reader, or a stopped terminal, must not hold up communication.
  const OwnFd fd(
      ::open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
  // One write per line, so that lines of several processes do not mix.
  if (fd.open() && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return true;
  complain(file, *path, fd.open() && errno == 0 ? ENOSPC : errno);
  return false;
}

}  // namespace

std::optional<std::string> log_file_name(std::string_view pattern) {
  std::string name;
  for (std::size_t at = 0; at < pattern.size(); at++) {
    if (pattern[at] != '%') {
      name += pattern[at];
      continue;
    }
    const char letter = ++at < pattern.size() ? pattern[at] : '\0';
    if (letter == 'h')
      name += host_name_in_path();
    else if (letter == 'p')
      name += std::to_string(::getpid());
    else if (letter == '%')
      name += '%';
    else
      return std::nullopt;
  }
  return name;
}

void log_file_set(const std::string& pattern) {
  std::error_code error;
  std::string full = pattern;
  if (!pattern.empty()) {
    std::string folder = std::filesystem::current_path(error).string();
    for (std::size_t at = folder.find('%'); at != std::string::npos; at = folder.find('%', at + 2))
      folder.insert(at, 1, '%');
    if (pattern.front() != '/' && !error) full = folder + '/' + pattern;
  }
  LogFile* const before = g_file.load(std::memory_order_acquire);
  if (before ? before->pattern == full : full.empty()) return;
  auto* file = full.empty() ? nullptr : new LogFile;
  if (file) {
    file->pattern = full;
    file->earlier = g_newest.load(std::memory_order_relaxed);
    while (!g_newest.compare_exchange_weak(file->earlier, file, std::memory_order_acq_rel)) {
    }
  }
  g_file.store(file, std::memory_order_release);
}

void log_file_try() {
  if (LogFile* file = g_file.load(std::memory_order_acquire)) append(*file, {});
}

bool log_file_write(std::string_view line) {
  LogFile* const file = g_file.load(std::memory_order_acquire);
  if (!file) return false;
  errno = 0;
  return append(*file, time_text(file->made) + std::string(line));
}

}  // namespace omx
