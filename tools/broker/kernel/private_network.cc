// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/private_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "base/no_signals.h"
#include "netdev/open_failure.h"
#include "tools/broker/kernel/kernel_failure.h"

namespace omx::broker {

namespace {

// Runs `work` on a thread of its own and waits for it. Returns 0 or errno.
int run_apart(const std::function<void()>& work) {
  try {
    const NoSignals no_signals;
    std::thread(work).join();
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

bool is_network(const OwnFd& fd) {
  struct statfs kind {};
  return ::fstatfs(fd.get(), &kind) == 0 && kind.f_type == NSFS_MAGIC &&
         ::ioctl(fd.get(), NS_GET_NSTYPE) == CLONE_NEWNET;
}

// Makes the folders above a path. Existing ones are left as they are. Users may pass through, but not open
// them: whoever may open a folder can lock it.
void folders_make(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0711);
}

}  // namespace

int run_in(const PrivateNetwork& network, const std::function<void()>& work) {
  int error = 0;
  const int failed = run_apart([&] {
    if (::setns(network.fd(), CLONE_NEWNET) < 0)
      error = errno;
    else
      work();
  });
  return failed ? failed : error;
}

Result<PrivateNetwork> PrivateNetwork::make() {
  OwnFd fd;
  int error = 0;
  const int failed = run_apart([&] {
    if (::unshare(CLONE_NEWNET) == 0) fd = OwnFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!fd.open()) error = errno;
  });
  if (failed) error = failed;
  if (error) return tl::unexpected(kernel_failure("make a network namespace", error));
  return PrivateNetwork(std::move(fd));
}

Result<PrivateNetwork> PrivateNetwork::make_at(const std::string& path) {
  auto network = make();
  if (!network) return network;
  folders_make(path);
  // A process that was killed may have left the file without the mount.
  const OwnFd place(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0400));
  if (!place.open()) return tl::unexpected(kernel_failure("make the file " + path, errno));
  if (is_network(place))
    return fail(link::kBusy,
                fmt::format("a network namespace is mounted at {} already: umount {}", path, path));
  const std::string source = fmt::format("/proc/self/fd/{}", network->fd());
  if (::mount(source.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) < 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return tl::unexpected(kernel_failure("mount a network namespace at " + path, error));
  }
  network->path_ = path;
  return network;
}

Result<PrivateNetwork> PrivateNetwork::open(const std::string& path) {
  OwnFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.open() && errno != ENOENT)
    return tl::unexpected(kernel_failure("open the network namespace " + path, errno));
  if (!fd.open() || !is_network(fd))
    return fail(link::kNoDevice, fmt::format("no network namespace is mounted at {}", path));
  return PrivateNetwork(std::move(fd), path);
}

Result<PrivateNetwork> PrivateNetwork::own() {
  OwnFd fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return tl::unexpected(kernel_failure("open the network namespace of this process", errno));
  return PrivateNetwork(std::move(fd));
}

Result<void> PrivateNetwork::remove() {
  fd_.reset();
  if (path_.empty()) return {};
  const std::string path = std::exchange(path_, {});
  if (::umount2(path.c_str(), MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
    return tl::unexpected(kernel_failure("unmount " + path, errno));
  if (::unlink(path.c_str()) < 0 && errno != ENOENT)
    return tl::unexpected(kernel_failure("remove the file " + path, errno));
  return {};
}

}  // namespace omx::broker
