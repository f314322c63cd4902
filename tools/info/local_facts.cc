// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/local_facts.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "local/memory_access.h"
#include "local/threshold.h"

namespace omx::tools {

namespace {

// Returns 0, or an errno that says why processes of this user may not read each other's memory. A child
// process tries to read its parent's memory. The other direction would say nothing: with
// kernel.yama.ptrace_scope=1 a parent may still read its child, but unrelated processes may not read each
// other.
int memory_try_between_processes() {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) ::_exit(local::memory_try(parent, local::proof_address()));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status)
                           : EACCES;  // a filter of system calls may have killed the child
}

}  // namespace

LocalFacts local_facts_find(const runtime::Settings& settings) {
  LocalFacts facts;
  facts.used = settings.intra_node.enabled;
  if (!facts.used) {
    facts.reason = "OMX_LOCAL=0";
    return facts;
  }
  facts.threshold = settings.intra_node.rndv_threshold ? settings.intra_node.rndv_threshold
                                                       : local::threshold_of_this_machine();
  if (!settings.intra_node.one_copy) {
    facts.reason = "because OMX_LOCAL_DIRECT=0";
    return facts;
  }
  const int error = memory_try_between_processes();
  facts.one_copy = error == 0;
  facts.reason = error ? fmt::format("because processes may not read each other's memory here ({}): {}",
                                     std::strerror(error), local::memory_remedy(error))
                       : "because processes may read each other's memory here (process_vm_readv)";
  return facts;
}

}  // namespace omx::tools
