// SPDX-License-Identifier: BSD-3-Clause
#include "user_process.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace omx {

int status_of(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, 0) != process) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int run_as(uid_t uid, const std::function<void()>& work) {
  const bool failed_before = testing::Test::HasFailure();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::setgroups(0, nullptr) < 0 || ::setgid(uid) < 0 || ::setuid(uid) < 0) ::_exit(2);
    work();
    ::_exit(testing::Test::HasFailure() && !failed_before ? 1 : 0);
  }
  return status_of(child);
}

}  // namespace omx
