// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bugreport/command_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/own_fd.h"

namespace omx::tools {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kTextMost = 1 << 20;
constexpr const char* kLate = "it did not end in time";
// A process that hangs in the kernel does not end even by SIGKILL.
constexpr auto kKilledLimit = std::chrono::seconds(2);

// Starts the program in a process group of its own, with its output in `pipe`. Returns an error number.
int start(const std::vector<std::string>& words, int pipe, pid_t& pid) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, pipe, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawnp(&pid, arguments.front(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads until the other side closes. Returns why it ended before.
std::string read_until(const OwnFd& pipe, Clock::time_point end, std::string& text) {
  std::array<char, 1 << 14> buffer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return kLate;
    pollfd waited{pipe.get(), POLLIN, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return std::strerror(errno);
    if (ready <= 0) continue;
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got == 0) return {};
    if (got < 0 && errno != EINTR) return std::strerror(errno);
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() >= kTextMost) return "it prints more than a report takes";
  }
}

}  // namespace

CommandOutput command_output(const std::vector<std::string>& words, std::chrono::milliseconds limit) {
  CommandOutput output;
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    output.trouble = std::strerror(errno);
    return output;
  }
  const OwnFd from(ends[0]);
  OwnFd to(ends[1]);
  pid_t pid = -1;
  if (const int error = start(words, to.get(), pid)) {
    output.trouble = error == ENOENT ? "it is not installed" : std::strerror(error);
    return output;
  }
  to.reset();
  const Clock::time_point end = Clock::now() + limit;
  output.trouble = read_until(from, end, output.text);
  // A program may close its output long before it ends.
  int status = 0;
  bool ended = false;
  while (output.trouble.empty() && !(ended = ::waitpid(pid, &status, WNOHANG) == pid)) {
    if (Clock::now() >= end) output.trouble = kLate;
    ::poll(nullptr, 0, 2);
  }
  if (!ended) {
    ::kill(-pid, SIGKILL);  // the programs that it started, too
    const Clock::time_point killed = Clock::now();
    while (::waitpid(pid, &status, WNOHANG) == 0 && Clock::now() < killed + kKilledLimit)
      ::poll(nullptr, 0, 2);
    return output;
  }
  if (WIFSIGNALED(status)) output.trouble = fmt::format("it was ended by signal {}", WTERMSIG(status));
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return output;
}

}  // namespace omx::tools
