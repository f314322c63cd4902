// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/job_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/own_fd.h"
#include "runtime/report/job_key.h"

namespace omx::runtime {

namespace {

constexpr std::size_t kKeyMost = 128;
constexpr std::size_t kRecordsMost = 4096;  // more than a host has processors
// A process holds the lock for some system calls. One that was stopped meanwhile must not hold up others.
constexpr int kLockTries = 2000;
constexpr std::chrono::microseconds kLockPause{500};

struct Header {
  std::uint32_t magic = 0x4f4d5852;  // "OMXR"
  std::uint32_t record = 0;          // bytes of a record, which another version of Open-MX may have changed
  std::array<char, kKeyMost> key{};
};

struct Record {
  std::int32_t pid = 0;
  std::uint32_t reported = 0;  // 1: `totals` counts
  std::uint64_t start = 0;     // of the process
  ReportTotals totals;

  bool runs() const { return !reported && start != 0 && start_of_process(pid) == start; }
};
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<Record>);

// Two jobs of one user with the same number here report each for themselves, because the header has the key.
std::uint64_t hash(std::string_view key) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : key) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

// Processes see each other only within a namespace of processes, and containers may share the folder.
std::string prefix() {
  struct stat about {};
  const bool there = ::stat("/proc/self/ns/pid", &about) == 0;
  return fmt::format("omx-report-{}-{}-", ::geteuid(), there ? about.st_ino : 0);
}

off_t record_at(std::size_t place) {
  return static_cast<off_t>(sizeof(Header) + place * sizeof(Record));
}

bool lock(int fd) {
  for (int i = 0; i < kLockTries; i++) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    std::this_thread::sleep_for(kLockPause);
  }
  return false;
}

// Opens and locks a file that only this user can have made. Not open, with errno, on failure.
OwnFd open_locked(const std::string& path, int flags) {
  for (;;) {
    OwnFd fd(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600));
    struct stat about {};
    if (!fd.open() || ::fstat(fd.get(), &about) < 0) return {};
    if (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) {
      errno = EPERM;
      return {};
    }
    if (!lock(fd.get()) || ::fstat(fd.get(), &about) < 0) return {};
    if (about.st_nlink > 0) return fd;
    // The last process of the job removed the file before it was locked here.
  }
}

std::vector<Record> records_read(int fd) {
  std::vector<Record> records;
  Record record;
  while (records.size() < kRecordsMost && ::pread(fd, &record, sizeof record, record_at(records.size())) ==
                                              static_cast<ssize_t>(sizeof record))
    records.push_back(record);
  return records;
}

// Returns whether the file has a header; if so, `header` is it.
bool header_read(int fd, Header& header) {
  return ::pread(fd, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
         header.magic == Header().magic;
}

bool any_runs(const std::vector<Record>& records) {
  return std::any_of(records.begin(), records.end(), [](const Record& r) { return r.runs(); });
}

bool written(ssize_t got, std::size_t wanted) {
  if (got >= 0 && static_cast<std::size_t>(got) != wanted) errno = ENOSPC;
  return got == static_cast<ssize_t>(wanted);
}

// Removes the files of jobs whose processes were all killed. Only this version of Open-MX can read them.
void remains_remove(const std::string& folder, const std::string& own) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (path == own || !at->path().filename().string().starts_with(prefix())) continue;
    const OwnFd fd = open_locked(path, 0);
    Header header;
    if (!fd.open() || (header_read(fd.get(), header) && header.record != sizeof(Record))) continue;
    if (!any_runs(records_read(fd.get()))) ::unlink(path.c_str());
  }
}

}  // namespace

JobFile::JobFile(std::string key, std::string folder)
    : key_(std::move(key)),
      folder_(std::move(folder)),
      path_(fmt::format("{}/{}{:016x}", folder_, prefix(), hash(key_))) {}

bool JobFile::join() {
  remains_remove(folder_, path_);
  Header own;
  own.record = sizeof(Record);
  std::copy_n(key_.begin(), std::min(key_.size(), own.key.size()), own.key.begin());
  const OwnFd fd = open_locked(path_, O_CREAT);
  if (!fd.open()) return false;
  Header header;
  std::vector<Record> records;
  if (header_read(fd.get(), header)) {
    if (header.record != own.record || header.key != own.key) {
      errno = EEXIST;
      return false;
    }
    records = records_read(fd.get());
  }
  // Without a process that runs, the records are of an earlier job of that name.
  if (!any_runs(records)) {
    records.clear();
    if (::ftruncate(fd.get(), 0) < 0 || !written(::pwrite(fd.get(), &own, sizeof own, 0), sizeof own))
      return false;
  }
  if (records.size() == kRecordsMost) {
    errno = ENOSPC;
    return false;
  }
  place_ = records.size();
  Record record;
  record.pid = ::getpid();
  record.start = start_of_process(record.pid);
  return written(::pwrite(fd.get(), &record, sizeof record, record_at(place_)), sizeof record);
}

std::optional<JobTotals> JobFile::leave(const ReportTotals& totals) {
  Record own;
  own.pid = ::getpid();
  own.reported = 1;
  own.totals = totals;
  JobTotals job;
  const OwnFd fd = open_locked(path_, 0);
  std::vector<Record> records;
  if (fd.open()) records = records_read(fd.get());
  if (place_ >= records.size() || records[place_].pid != own.pid) {
    job.totals = totals;
    job.processes = 1;
    return job;
  }
  records[place_] = own;
  if (any_runs(records)) {
    // If the record cannot be written, this process is the one without a report.
    [[maybe_unused]] const ssize_t done = ::pwrite(fd.get(), &own, sizeof own, record_at(place_));
    return std::nullopt;
  }
  std::set<std::int32_t> reported, missing;
  for (const Record& r : records) {
    (r.reported ? reported : missing).insert(r.pid);
    if (r.reported) job.totals.add(r.totals);
  }
  job.processes = reported.size();
  job.missing = missing.size();
  ::unlink(path_.c_str());
  return job;
}

}  // namespace omx::runtime
