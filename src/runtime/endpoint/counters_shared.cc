// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/counters_shared.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>

#include "runtime/board/claim_search.h"

namespace omx::runtime {

// Another process reads these bytes as they are.
static_assert(std::is_trivially_copyable_v<SharedEndpoint>);

namespace {

constexpr unsigned kTries = 1000;
constexpr int kMxFailure = 2;
constexpr int kMxNoPerm = 7;
constexpr int kMxBadEndpoint = 9;
constexpr int kMxBadLibVersion = 38;

constexpr std::string_view kSegmentTarget = "/memfd:omx-counters-";

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

// Makes each bool 0 or 1. Compilers rely on these two values, and would misread other bytes.
void bools_sanitize(std::initializer_list<bool*> bools) {
  for (bool* const b : bools) {
    unsigned char byte = 0;
    std::memcpy(&byte, b, sizeof byte);
    *b = byte != 0;
  }
}

// Sanitizes a view that may be torn, or come from a hostile process. Code that prints enumerations checks
// them itself.
void view_sanitize(SharedView& view) {
  protocol::Snapshot& s = view.snapshot;
  s.peer_rows = std::min<std::uint32_t>(s.peer_rows, protocol::Snapshot::kPeers);
  s.pending_rows = std::min<std::uint32_t>(s.pending_rows, protocol::Snapshot::kPending);
  bools_sanitize({&view.stopped, &s.pending_cut});
  for (protocol::PeerRow& p : s.peer)
    bools_sanitize({&p.self, &p.connected, &p.extended, &p.intra_node, &p.bulk_in, &p.bulk_out});
  for (protocol::PendingRow& r : s.pending) bools_sanitize({&r.known_peer, &r.forgotten, &r.has_number});
}

}  // namespace

std::unique_ptr<CounterSegment> CounterSegment::create(std::uint32_t ifindex, std::uint32_t endpoint) {
  auto segment = std::make_unique<CounterSegment>();
  void* memory = MAP_FAILED;
  segment->fd_ = OwnFd(::memfd_create(segment_name(ifindex, endpoint).c_str(), MFD_CLOEXEC));
  const int fd = segment->fd_.get();
  if (fd >= 0 && ::ftruncate(fd, sizeof(SharedEndpoint)) == 0) {
    memory = ::mmap(nullptr, sizeof(SharedEndpoint), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (memory == MAP_FAILED) {
    memory =
        ::mmap(nullptr, sizeof(SharedEndpoint), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (memory == MAP_FAILED) return nullptr;
  ::madvise(memory, sizeof(SharedEndpoint), MADV_DONTFORK);  // a child of fork() has no endpoint
  segment->shared_ = new (memory) SharedEndpoint;
  segment->shared_->counters.ifindex = ifindex;
  segment->shared_->counters.endpoint = endpoint;
  return segment;
}

CounterSegment::~CounterSegment() {
  if (shared_) ::munmap(shared_, sizeof(SharedEndpoint));
}

namespace {

// Returns whether this segment has that index now. If an interface was removed and came back with another
// index, the name of the memfd keeps the former one.
bool segment_moved(int fd, std::uint32_t ifindex) {
  std::uint32_t head[3] = {};  // magic, count, ifindex
  static_assert(offsetof(SharedCounters, ifindex) == 2 * sizeof head[0]);
  return ::pread(fd, head, sizeof head, 0) == static_cast<ssize_t>(sizeof head) &&
         head[0] == SharedCounters::kMagic && head[2] == ifindex;
}

Result<OwnFd> segment_open(std::uint32_t ifindex, std::uint32_t endpoint, const ClaimHolder& holder) {
  const std::string wanted = "/memfd:" + segment_name(ifindex, endpoint) + " (deleted)";
  const std::string end = fmt::format("-{} (deleted)", endpoint);
  OwnFd fd;
  int open_error = 0;
  const int error = descriptors_visit(holder.pid, [&](const std::string& number, const std::string& target) {
    const bool exact = target == wanted;
    if (!exact && !(target.starts_with(kSegmentTarget) && target.ends_with(end))) return false;
    // A file of another kind may have such a name, and opening it could block indefinitely.
    OwnFd found(::open(fmt::format("/proc/{}/fd/{}", holder.pid, number).c_str(),
                       O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!found.open() && exact) open_error = errno;
    struct stat about {};
    if (found.open() && (::fstat(found.get(), &about) < 0 || !S_ISREG(about.st_mode))) found = OwnFd();
    if (!exact && !(found.open() && segment_moved(found.get(), ifindex))) return false;
    fd = std::move(found);
    return true;
  });
  if (error || open_error) return tl::unexpected(not_readable(endpoint, holder, error ? error : open_error));
  if (!fd.open()) {
    return fail(
        kMxFailure,
        fmt::format(
            "process {} ({}) has endpoint {} but publishes no counters (memfd_create was refused there)",
            holder.pid, holder.command, endpoint));
  }
  return fd;
}

bool segment_copy(int fd, void* to, std::size_t bytes, std::size_t from) {
  return ::pread(fd, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

// Reads `ended` before all else and `begun` after all else, opposite to the order in which they are written.
// A single read() promises no order within a page. Between two of them, the kernel takes and releases the
// page with atomic operations that are barriers. The number of events, too, is read before the events,
// because the owner writes it after them.
bool view_read(int fd, SharedView& view) {
  constexpr std::size_t kView = offsetof(SharedEndpoint, view);
  constexpr std::size_t kCount = offsetof(SharedView, history) + offsetof(protocol::History, count);
  std::uint64_t ended = 0, events = 0;
  if (!segment_copy(fd, &ended, sizeof ended, kView + offsetof(SharedView, ended)) ||
      !segment_copy(fd, &events, sizeof events, kView + kCount) ||
      !segment_copy(fd, &view, sizeof view, kView) ||
      !segment_copy(fd, &view.begun, sizeof view.begun, kView + offsetof(SharedView, begun)))
    return false;
  view.ended = ended;
  view.history.count = events;
  return true;
}

// Reads and checks the beginning of the segment.
Result<OwnFd> segment_read(std::uint32_t ifindex, std::uint32_t endpoint, SharedCounters& counters) {
  const auto holder = claim_holder(ifindex, endpoint);
  if (!holder) return fail(kMxBadEndpoint, fmt::format("endpoint {} is not open", endpoint));
  if (!holder->pid) {
    return fail(kMxNoPerm,
                fmt::format("endpoint {} is open in a process that is not visible from here", endpoint));
  }
  auto fd = segment_open(ifindex, endpoint, *holder);
  if (!fd) return fd;
  const ssize_t size = ::pread(fd->get(), &counters, sizeof counters, 0);
  const off_t whole = ::lseek(fd->get(), 0, SEEK_END);
  if (size != static_cast<ssize_t>(sizeof counters) || whole != static_cast<off_t>(sizeof(SharedEndpoint)) ||
      counters.magic != SharedCounters::kMagic || counters.count != protocol::kCounterCount) {
    return fail(kMxBadLibVersion,
                fmt::format("process {} ({}) has endpoint {} open with another version of Open-MX",
                            holder->pid, holder->command, endpoint));
  }
  return fd;
}

}  // namespace

Result<SharedCounters> counters_read(std::uint32_t ifindex, std::uint32_t endpoint) {
  SharedCounters counters;
  const auto fd = segment_read(ifindex, endpoint, counters);
  if (!fd) return tl::unexpected(fd.error());
  return counters;
}

Result<std::unique_ptr<SharedEndpoint>> endpoint_read(std::uint32_t ifindex, std::uint32_t endpoint) {
  auto shared = std::make_unique<SharedEndpoint>();
  const auto fd = segment_read(ifindex, endpoint, shared->counters);
  if (!fd) return tl::unexpected(fd.error());
  // The owner writes the view in microseconds. A process that was stopped in the middle leaves it torn. The
  // reader sees that when `ended` and `begun` differ.
  for (unsigned tries = 0; tries < kTries; tries++) {
    if (!view_read(fd->get(), shared->view))
      return fail(kMxFailure, fmt::format("endpoint {} was closed just now", endpoint));
    if (shared->view.ended == shared->view.begun) break;
    ::sched_yield();
  }
  view_sanitize(shared->view);
  return shared;
}

}  // namespace omx::runtime
