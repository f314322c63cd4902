// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/counters_shared.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <type_traits>

#include "runtime/claim_search.h"

namespace omx::runtime {

// Another process reads the bytes as they are.
static_assert(std::is_trivially_copyable_v<SharedCounters>);

namespace {

constexpr int kMxFailure = 2;
constexpr int kMxNoPerm = 7;
constexpr int kMxBadEndpoint = 9;
constexpr int kMxBadLibVersion = 38;

std::string segment_name(std::uint32_t ifindex, std::uint32_t endpoint) {
  return fmt::format("omx-counters-{}-{}", ifindex, endpoint);
}

Failure not_readable(std::uint32_t endpoint, const ClaimHolder& holder, int error) {
  if (error == EACCES || error == EPERM) {
    return {
        kMxNoPerm,
        fmt::format("endpoint {} belongs to process {} ({}) of user {}; only that user and root may read its "
                    "counters",
                    endpoint, holder.pid, holder.command, holder.uid)};
  }
  return {kMxFailure, fmt::format("cannot read the counters of endpoint {} in process {} ({}): {}", endpoint,
                                  holder.pid, holder.command, std::strerror(error))};
}

}  // namespace

std::unique_ptr<CounterSegment> CounterSegment::create(std::uint32_t ifindex, std::uint32_t endpoint) {
  auto segment = std::make_unique<CounterSegment>();
  void* memory = MAP_FAILED;
  segment->fd_ = OwnFd(::memfd_create(segment_name(ifindex, endpoint).c_str(), MFD_CLOEXEC));
  const int fd = segment->fd_.get();
  if (fd >= 0 && ::ftruncate(fd, sizeof(SharedCounters)) == 0) {
    memory = ::mmap(nullptr, sizeof(SharedCounters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (memory == MAP_FAILED) {
    memory =
        ::mmap(nullptr, sizeof(SharedCounters), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (memory == MAP_FAILED) return nullptr;
  ::madvise(memory, sizeof(SharedCounters), MADV_DONTFORK);  // a child of fork() has no endpoint
  segment->shared_ = new (memory) SharedCounters;
  segment->shared_->ifindex = ifindex;
  segment->shared_->endpoint = endpoint;
  return segment;
}

CounterSegment::~CounterSegment() {
  if (shared_) ::munmap(shared_, sizeof(SharedCounters));
}

Result<SharedCounters> counters_read(std::uint32_t ifindex, std::uint32_t endpoint) {
  const auto holder = claim_holder(ifindex, endpoint);
  if (!holder) return fail(kMxBadEndpoint, fmt::format("endpoint {} is not open", endpoint));
  if (!holder->pid) {
    return fail(kMxNoPerm,
                fmt::format("endpoint {} is open in a process that is not visible from here", endpoint));
  }

  const std::string wanted = "/memfd:" + segment_name(ifindex, endpoint) + " (deleted)";
  int fd = -1;
  int open_error = 0;
  const int error = descriptors_visit(holder->pid, [&](const std::string& number, const std::string& target) {
    if (target != wanted) return false;
    fd = ::open(fmt::format("/proc/{}/fd/{}", holder->pid, number).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) open_error = errno;
    return true;
  });
  if (error || open_error) return tl::unexpected(not_readable(endpoint, *holder, error ? error : open_error));
  if (fd < 0) {
    return fail(
        kMxFailure,
        fmt::format(
            "process {} ({}) has endpoint {} but publishes no counters (memfd_create was refused there)",
            holder->pid, holder->command, endpoint));
  }

  SharedCounters counters;
  const ssize_t size = ::pread(fd, &counters, sizeof counters, 0);
  const off_t whole = ::lseek(fd, 0, SEEK_END);
  ::close(fd);
  if (size != static_cast<ssize_t>(sizeof counters) || whole != size ||
      counters.magic != SharedCounters::kMagic || counters.count != protocol::kCounterCount) {
    return fail(kMxBadLibVersion,
                fmt::format("process {} ({}) has endpoint {} open with another version of Open-MX",
                            holder->pid, holder->command, endpoint));
  }
  return counters;
}

}  // namespace omx::runtime
