// SPDX-License-Identifier: BSD-3-Clause
// Processes of ordinary users, which a test that runs as root makes.
#pragma once

#include <sys/types.h>

#include <functional>

namespace omx {

// Waits for a child. Returns its exit status, minus the signal that ended it, or -1000 if there is no such
// child.
int status_of(pid_t process);

// Runs `work` in a child of this user, which ends with the test. Returns status_of() the child: 0 if no
// expectation in it failed.
int run_as(uid_t uid, const std::function<void()>& work);

}  // namespace omx
