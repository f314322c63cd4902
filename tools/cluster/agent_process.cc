// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/agent_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"

namespace omx::tools {

namespace {

constexpr int kMxFailure = 2;
constexpr int kNotExecuted = 127;
constexpr TimeNs kFarewell = 500'000'000;

struct Pipe {
  OwnFd read, write;
};

Result<Pipe> pipe_open() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0)
    return fail(kMxFailure, fmt::format("a pipe cannot be opened: {}; raise the limit (ulimit -n)",
                                        std::strerror(errno)));
  return Pipe{OwnFd(ends[0]), OwnFd(ends[1])};
}

// Runs in the child. Only async-signal-safe calls are allowed here.
[[noreturn]] void child_run(char* const* arguments, const Pipe& in, const Pipe& out, const Pipe& err,
                            pid_t parent) {
  ::setpgid(0, 0);  // so that all of it can be killed, and Ctrl-C ends the coordinator first
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotExecuted);
  std::signal(SIGPIPE, SIG_DFL);
  ::dup2(in.read.get(), STDIN_FILENO);
  ::dup2(out.write.get(), STDOUT_FILENO);
  ::dup2(err.write.get(), STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  ::_exit(kNotExecuted);
}

}  // namespace

Result<std::unique_ptr<AgentProcess>> AgentProcess::start(const std::vector<std::string>& command) {
  auto in = pipe_open(), out = pipe_open(), err = pipe_open();
  for (const auto* pipe : {&in, &out, &err})
    if (!*pipe) return tl::unexpected(pipe->error());
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) child_run(arguments.data(), *in, *out, *err, parent);
  if (pid < 0)
    return fail(kMxFailure, fmt::format("{} cannot be started: {}; raise the limit (ulimit -u)", command[0],
                                        std::strerror(errno)));
  ::fcntl(in->write.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(out->read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(err->read.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<AgentProcess>(
      new AgentProcess(pid, std::move(in->write), std::move(out->read), std::move(err->read)));
}

AgentProcess::~AgentProcess() {
  close();
  const TimeNs end = clock_now() + kFarewell;
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (clock_now() < end) {
      ::poll(nullptr, 0, 5);
      continue;
    }
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // it may not have had its group yet
    ::waitpid(pid_, nullptr, 0);
    return;
  }
}

// Records are short, and the agent reads each before the next one is sent, so the pipe has room.
void AgentProcess::send(const Record& record) {
  const std::string line = record_line(record);
  if (::write(input_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) input_.reset();
}

// Returns false at the end of the stream.
bool AgentProcess::read_from(OwnFd& fd, LineBuffer& lines) {
  std::array<char, 16384> bytes;
  const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
  if (got > 0) lines.add({bytes.data(), static_cast<std::size_t>(got)});
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return true;
  fd.reset();
  return false;
}

std::string AgentProcess::reason() const {
  const std::string& noise = complaints_.noise().empty() ? lines_.noise() : complaints_.noise();
  return noise.empty() ? "" : fmt::format(" (\"{}\")", noise);
}

Result<Record> AgentProcess::receive(TimeNs deadline) {
  for (;;) {
    if (auto record = lines_.next()) return *record;
    if (!output_.open()) return fail(kMxFailure, fmt::format("its agent ended{}", reason()));
    const TimeNs now = clock_now();
    if (now >= deadline) return fail(kMxFailure, fmt::format("its agent does not answer{}", reason()));
    std::array<pollfd, 2> fds{{{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), static_cast<int>((deadline - now) / 1'000'000 + 1));
    if (fds[1].revents && errors_.open()) {
      read_from(errors_, complaints_);
      complaints_.next();  // keeps the last line as the reason
    }
    if (fds[0].revents && !read_from(output_, lines_) && errors_.open()) {
      while (read_from(errors_, complaints_) && ::poll(&fds[1], 1, 100) > 0) complaints_.next();
      complaints_.next();
    }
  }
}

}  // namespace omx::tools
