// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/meeting.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "base/clock.h"
#include "base/own_fd.h"
#include "base/text.h"

namespace omx::tools {

namespace {

constexpr int kMxFailure = 2;
constexpr TimeNs kLookPause = 20'000'000;
constexpr auto kPulse = std::chrono::seconds(2);
constexpr TimeNs kPulsePause = 2'000'000'000;
constexpr TimeNs kSilence = 30'000'000'000;  // of rank 0: a network file system may show a pulse late

std::string folder_of(const std::string& parent, const Job& job) {
  return fmt::format("{}/omx-check-{}", parent.empty() ? "." : parent, job.id);
}

std::string requests_of(const std::string& folder, std::size_t rank) {
  return fmt::format("{}/{}.requests", folder, rank);
}
std::string answers_of(const std::string& folder, std::size_t rank) {
  return fmt::format("{}/{}.answers", folder, rank);
}

// Adds a line to a file. Opens and closes it each time, because network file systems pass changes on then.
bool line_add(const std::string& path, const std::string& line) {
  const OwnFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  return fd.open() && ::write(fd.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

// Reads what another host adds to a file.
class GrowingFile {
 public:
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}
  // Returns the next record, and looks into the file at most every `kLookPause`.
  std::optional<Record> next() {
    if (auto record = lines_.next()) return record;
    const TimeNs now = clock_now();
    if (now < look_at_) return std::nullopt;
    look_at_ = now + kLookPause;
    const OwnFd fd(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    gone_ = !fd.open() && seen_;
    if (!fd.open()) return std::nullopt;
    seen_ = true;
    std::array<char, 65536> bytes;
    for (ssize_t got; (got = ::pread(fd.get(), bytes.data(), bytes.size(), read_)) > 0; read_ += got)
      lines_.add({bytes.data(), static_cast<std::size_t>(got)});
    return lines_.next();
  }
  bool gone() const { return gone_; }

 private:
  std::string path_;
  LineBuffer lines_;
  off_t read_ = 0;
  TimeNs look_at_ = 0;
  bool seen_ = false, gone_ = false;
};

class FolderChannel final : public Channel {
 public:
  FolderChannel(const std::string& folder, std::size_t rank)
      : requests_(requests_of(folder, rank)), answers_(answers_of(folder, rank)) {}
  void send(const Record& record) override { line_add(requests_, record_line(record)); }
  void close() override { send({"end", {}}); }
  Result<Record> receive(TimeNs deadline) override {
    for (;;) {
      if (auto record = answers_.next()) return *record;
      if (clock_now() >= deadline) return fail(kMxFailure, "its agent does not answer");
      ::poll(nullptr, 0, static_cast<int>(kLookPause / 1'000'000));
    }
  }

 private:
  std::string requests_;
  GrowingFile answers_;
};

class FolderSeat final : public AgentSeat {
 public:
  FolderSeat(const std::string& folder, std::size_t rank)
      : pulse_(folder + "/pulse"), requests_(requests_of(folder, rank)), answers_(answers_of(folder, rank)) {}
  int descriptor() const override { return -1; }
  std::optional<Record> take() override {
    auto record = requests_.next();
    if (record && record->verb == "end") {
      ended_ = true;
      return std::nullopt;
    }
    return record;
  }
  bool ended() override { return ended_ || requests_.gone() || is_silent(); }
  void send(const Record& record) override { ended_ |= !line_add(answers_, record_line(record)); }

 private:
  // Returns whether the pulse has not changed for a long time.
  bool is_silent() {
    const TimeNs now = clock_now();
    if (now >= look_at_) {
      look_at_ = now + kPulsePause;
      const OwnFd fd(::open(pulse_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      const off_t length = fd.open() ? ::lseek(fd.get(), 0, SEEK_END) : -1;
      if (length != pulse_length_) heard_at_ = now;
      pulse_length_ = length;
    }
    return now - heard_at_ > kSilence;
  }

  std::string pulse_;
  GrowingFile requests_;
  std::string answers_;
  bool ended_ = false;
  off_t pulse_length_ = -1;
  TimeNs look_at_ = 0, heard_at_ = clock_now();
};

}  // namespace

Meeting::Meeting(std::string folder) : folder_(std::move(folder)) {
  pulse_ = std::jthread([path = folder_ + "/pulse"](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      line_add(path, "\n");
      wake.wait_for(lock, stop, kPulse, [] { return false; });
    }
  });
}

Meeting::~Meeting() {
  pulse_.request_stop();
  pulse_.join();
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

Result<std::unique_ptr<Meeting>> Meeting::open(const std::string& parent, const Job& job) {
  if (job.id.empty())
    return fail(kMxFailure, "--job: the launcher does not say which job this is; use --hosts");
  std::string folder = folder_of(parent, job);
  if (::mkdir(folder.c_str(), 0700) < 0)
    return fail(kMxFailure,
                fmt::format("--meet: {} cannot be made: {}; name another folder that all hosts share",
                            shown(folder, kPathShown), std::strerror(errno)));
  return std::unique_ptr<Meeting>(new Meeting(std::move(folder)));
}

std::unique_ptr<Channel> Meeting::channel(std::size_t rank) const {
  return std::make_unique<FolderChannel>(folder_, rank);
}

Result<std::unique_ptr<AgentSeat>> meeting_join(const std::string& parent, const Job& job, TimeNs deadline) {
  const std::string folder = folder_of(parent, job);
  for (;;) {
    struct stat about {};
    // The folder of another user must not give us orders.
    const bool there = ::lstat(folder.c_str(), &about) == 0;
    if (there && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid())
      return std::make_unique<FolderSeat>(folder, job.rank);
    if (clock_now() >= deadline)
      return fail(kMxFailure,
                  fmt::format("--meet: rank 0 is not seen in {}; name a folder that all hosts share",
                              shown(folder, kPathShown)));
    ::poll(nullptr, 0, static_cast<int>(kLookPause / 1'000'000));
  }
}

}  // namespace omx::tools
