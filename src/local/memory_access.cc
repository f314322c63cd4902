// SPDX-License-Identifier: BSD-3-Clause
#include "local/memory_access.h"

#include <sys/uio.h>

#include <cerrno>

namespace omx::local {

namespace {

constexpr std::uint64_t kProof = 0x6f70656e2d6d7821;
const std::uint64_t g_proof = kProof;

}  // namespace

std::uint64_t proof_address() {
  return reinterpret_cast<std::uintptr_t>(&g_proof);
}

int memory_try(int pid, std::uint64_t proof_at) {
  if (pid <= 0) return ESRCH;
  std::uint64_t value = 0;
  iovec here{&value, sizeof value};
  iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(proof_at)), sizeof value};
  const ssize_t got = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
  if (got < 0 && errno != EFAULT) return errno;
  // Otherwise another process than the peer has that number here.
  return got == static_cast<ssize_t>(sizeof value) && value == kProof ? 0 : ESRCH;
}

const char* memory_remedy(int error) {
  switch (error) {
    case EPERM:
      return "run both as the same user with the same capabilities (setcap), and with sysctl "
             "kernel.yama.ptrace_scope=0; containers with --cap-add SYS_PTRACE";
    case ENOSYS:
      return "this kernel has no process_vm_readv (CONFIG_CROSS_MEMORY_ATTACH), or a filter of system calls "
             "hides it; containers need --cap-add SYS_PTRACE or another seccomp profile";
    case EACCES:
      return "a filter of system calls forbids process_vm_readv; containers need --cap-add SYS_PTRACE or "
             "another seccomp profile";
    default:
      return "it has no number in our PID namespace; start containers with --pid=host, or all in one";
  }
}

}  // namespace omx::local
