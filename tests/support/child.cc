// SPDX-License-Identifier: BSD-3-Clause
#include "child.h"
#include "tests/support/signal_child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace omx::runtime {

Child::Child(const std::function<bool()>& start) {
  int pipe[2];
  if (::pipe(pipe) < 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char result = start() ? 1 : 0;
    if (::write(pipe[1], &result, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(pipe[1]);
  char result = 0;
  ok_ = pid_ > 0 && ::read(pipe[0], &result, 1) == 1 && result == 1;
  ::close(pipe[0]);
}

void Child::kill() {
  if (pid_ <= 0) return;
  signal_child(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool in_child(const std::function<bool()>& check) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace omx::runtime
