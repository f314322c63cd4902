// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/seal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "base/text_file.h"
#include "netdev/bpf_call.h"
#include "netdev/open_failure.h"
#include "tools/broker/kernel/cgroup_path.h"
#include "tools/broker/kernel/ebpf_load.h"
#include "tools/broker/kernel/grant_map.h"
#include "tools/broker/kernel/kernel_failure.h"

namespace omx::broker {

namespace {

constexpr std::string_view kPrefix = "omx-broker.";  // a random number follows
constexpr unsigned kAttempts = 16;

// Refuses everything for sockets with our mark.
EbpfProgram program_build() {
  using enum EbpfCode::Register;
  using enum EbpfCode::Size;
  EbpfCode c;
  const auto allow = c.label();
  c.load(dword, r2, r1, offsetof(bpf_sockopt, sk));
  c.jump_if(r2, BPF_JEQ, 0, allow);
  c.load(word, r2, r2, offsetof(bpf_sock, mark));
  c.and_word(r2, kMarkMask);
  c.jump_if_word(r2, BPF_JNE, kMarkMagic, allow);
  c.exit_with(0);
  c.place(allow);
  c.exit_with(1);
  return c.take();
}

std::optional<std::string> present_folder() {
  const auto mounts = text_file_read("/proc/self/mountinfo");
  const auto own = text_file_read("/proc/self/cgroup");
  return mounts && own ? cgroup_folder(*mounts, *own) : std::nullopt;
}

std::string_view name_of(std::string_view folder) {
  return folder.substr(folder.rfind('/') + 1);
}

// Removes the cgroups without processes. The kernel keeps the others.
void empty_ones_remove(const std::string& home) {
  for (const std::string& name : folder_list(home))
    if (name.starts_with(kPrefix)) ::rmdir((home + "/" + name).c_str());
}

// Moves this process into a cgroup. Returns 0 or errno.
int move_to(const std::string& folder) {
  const OwnFd procs(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!procs.open()) return errno;
  return ::write(procs.get(), "0", 1) == 1 ? 0 : errno;
}

Result<void> program_attach(const std::string& folder) {
  auto program =
      ebpf_load({"omx_seal", BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT}, program_build());
  if (!program) {
    if (program.error().mx_code == link::kFailure)
      program.error().message += "; sealed sockets also need CONFIG_CGROUP_BPF";
    return tl::unexpected(std::move(program.error()));
  }
  const OwnFd group(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group.open()) return tl::unexpected(kernel_failure("open the cgroup " + folder, errno));
  bpf_attr a{};
  a.target_fd = static_cast<std::uint32_t>(group.get());
  a.attach_bpf_fd = static_cast<std::uint32_t>(program->get());
  a.attach_type = BPF_CGROUP_SETSOCKOPT;
  a.attach_flags = BPF_F_ALLOW_MULTI;
  if (link::bpf_call(BPF_PROG_ATTACH, a) == 0) return {};
  return tl::unexpected(kernel_failure("attach the sealing program to the cgroup " + folder, errno));
}

}  // namespace

Result<Seal> Seal::enter() {
  auto home = present_folder();
  if (!home)
    return fail(link::kFailure,
                "sealed sockets need cgroup v2, and no mounted one shows this process: mount -t cgroup2 none "
                "/sys/fs/cgroup/unified, or let the broker trust its users (trusted mode)");
  // After an exec() the process is still in the cgroup that it made before.
  if (name_of(*home).starts_with(kPrefix)) {
    Seal seal(home->substr(0, home->rfind('/')), *home);
    if (auto attached = program_attach(*home); !attached) return tl::unexpected(std::move(attached.error()));
    return seal;
  }
  empty_ones_remove(*home);
  // Another broker that starts now may take the new cgroup for a leftover, until this process is in it.
  for (unsigned attempt = 1;; attempt++) {
    auto made = make(*home);
    if (made || made.error().mx_code != link::kBusy || attempt == kAttempts) return made;
  }
}

Result<Seal> Seal::make(const std::string& home) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    return tl::unexpected(kernel_failure("draw a random number", errno));
  const std::string own = fmt::format("{}/{}{:016x}", home, kPrefix, number);
  if (::mkdir(own.c_str(), 0755) < 0)
    return tl::unexpected(
        kernel_failure("make the cgroup " + own + " (below a systemd unit that takes Delegate=yes)", errno));
  Seal seal(home, own);  // from here on it cleans up
  auto attached = program_attach(own);
  const int error = attached ? move_to(own) : 0;
  if (::access(own.c_str(), F_OK) != 0) {
    seal.own_.clear();
    return fail(link::kBusy, "another broker removed the cgroup " + own + "; start this one again");
  }
  if (!attached) return tl::unexpected(std::move(attached.error()));
  if (error) return tl::unexpected(kernel_failure("move this process into the cgroup " + own, error));
  return seal;
}

void Seal::leftovers_remove() {
  if (const auto home = present_folder()) empty_ones_remove(*home);
}

Result<void> Seal::leave() {
  if (own_.empty()) return {};
  const std::string own = std::exchange(own_, {});
  if (const int error = move_to(home_))
    return tl::unexpected(kernel_failure("move this process back into the cgroup " + home_, error));
  if (::rmdir(own.c_str()) < 0 && errno != ENOENT)
    return tl::unexpected(kernel_failure("remove the cgroup " + own, errno));
  return {};
}

Seal::~Seal() {
  if (auto left = leave(); !left) log(LogLevel::warn, "{}", left.error().message);
}

bool seal_holds(int fd) {
  std::uint32_t mark = 0;
  socklen_t length = sizeof mark;
  return ::getsockopt(fd, SOL_SOCKET, SO_MARK, &mark, &length) == 0 && (mark & kMarkMask) == kMarkMagic &&
         ::setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark) < 0 && errno == EPERM;
}

}  // namespace omx::broker
