// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/job_file.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "runtime/report/job_key.h"
#include "tests/support/signal_child.h"

namespace omx::runtime {

namespace {

// A child process that runs `work` up to its pause(), and the rest after resume().
class Child {
 public:
  explicit Child(const std::function<void(const std::function<void()>& pause)>& work) {
    EXPECT_EQ(::pipe(to_.data()), 0);
    EXPECT_EQ(::pipe(from_.data()), 0);
    pid_ = ::fork();
    EXPECT_GE(pid_, 0);
    if (pid_ == 0) {
      ::close(to_[1]);
      work([this] {
        char byte = 0;
        if (::write(from_[1], &byte, 1) != 1 || ::read(to_[0], &byte, 1) != 1) ::_exit(2);
      });
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    char byte = 0;
    EXPECT_EQ(::read(from_[0], &byte, 1), 1);
  }
  ~Child() {
    kill();
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]}) ::close(fd);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Lets it go on, and waits for its end.
  void resume() {
    EXPECT_EQ(::write(to_[1], "", 1), 1);
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_EQ(status, 0);
    pid_ = -1;
  }
  void kill() {
    if (!signal_child(pid_, SIGKILL)) return;
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  std::array<int, 2> to_{}, from_{};
  pid_t pid_ = -1;
};

ReportTotals sent(std::uint64_t messages) {
  ReportTotals totals;
  totals.messages_sent = messages;
  return totals;
}

class job_file : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "omx-job-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  JobFile job(const std::string& key = "key") const { return {key, folder.string()}; }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  std::filesystem::path only_file() const { return std::filesystem::directory_iterator(folder)->path(); }

  std::filesystem::path folder;
};

TEST_F(job_file, lone_process_reports_for_itself_and_leaves_nothing) {
  JobFile own = job();
  ASSERT_TRUE(own.join());
  EXPECT_EQ(files(), 1U);
  const auto totals = own.leave(sent(3));
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->totals.messages_sent, 3U);
  EXPECT_EQ(totals->processes, 1U);
  EXPECT_EQ(totals->missing, 0U);
  EXPECT_EQ(files(), 0U);
}

TEST_F(job_file, last_process_reports_for_all) {
  JobFile own = job();
  ASSERT_TRUE(own.join());
  Child child([this](const auto& pause) {
    JobFile theirs = job();
    EXPECT_TRUE(theirs.join());
    pause();
    EXPECT_FALSE(theirs.leave(sent(40)));
  });
  child.resume();
  const auto totals = own.leave(sent(2));
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->totals.messages_sent, 42U);
  EXPECT_EQ(totals->processes, 2U);
  EXPECT_EQ(files(), 0U);
}

TEST_F(job_file, whoever_is_last_reports) {
  JobFile own = job();
  ASSERT_TRUE(own.join());
  Child child([this](const auto& pause) {
    JobFile theirs = job();
    EXPECT_TRUE(theirs.join());
    pause();
    const auto totals = theirs.leave(sent(40));
    ASSERT_TRUE(totals);
    EXPECT_EQ(totals->totals.messages_sent, 42U);
    EXPECT_EQ(totals->processes, 2U);
  });
  EXPECT_FALSE(own.leave(sent(2)));
  child.resume();
  EXPECT_EQ(files(), 0U);
}

// A process may have two runtimes, one for MX and one in libfabric's provider.
TEST_F(job_file, two_records_of_a_process_are_one_process) {
  JobFile first = job(), second = job();
  ASSERT_TRUE(first.join());
  ASSERT_TRUE(second.join());
  EXPECT_FALSE(first.leave(sent(1)));
  const auto totals = second.leave(sent(2));
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->totals.messages_sent, 3U);
  EXPECT_EQ(totals->processes, 1U);
}

TEST_F(job_file, killed_process_is_missing_and_not_waited_for) {
  JobFile own = job();
  ASSERT_TRUE(own.join());
  Child child([this](const auto& pause) {
    JobFile theirs = job();
    EXPECT_TRUE(theirs.join());
    pause();
  });
  child.kill();
  const auto totals = own.leave(sent(2));
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->processes, 1U);
  EXPECT_EQ(totals->missing, 1U);
  EXPECT_EQ(files(), 0U);
}

TEST_F(job_file, jobs_are_apart) {
  JobFile one = job("one"), two = job("two");
  ASSERT_TRUE(one.join());
  ASSERT_TRUE(two.join());
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(one.leave(sent(1))->totals.messages_sent, 1U);
  EXPECT_EQ(two.leave(sent(2))->totals.messages_sent, 2U);
}

TEST_F(job_file, next_job_removes_what_a_killed_one_left) {
  {
    Child child([this](const auto& pause) {
      JobFile theirs = job("killed");
      EXPECT_TRUE(theirs.join());
      pause();
    });
    child.kill();
  }
  EXPECT_EQ(files(), 1U);
  JobFile own = job("next");
  ASSERT_TRUE(own.join());
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(own.leave(sent(1))->missing, 0U);
  EXPECT_EQ(files(), 0U);
}

// A launcher may give a name again.
TEST_F(job_file, killed_job_of_the_same_name_does_not_count) {
  {
    Child child([this](const auto& pause) {
      JobFile theirs = job();
      EXPECT_TRUE(theirs.join());
      pause();
    });
    child.kill();
  }
  JobFile own = job();
  ASSERT_TRUE(own.join());
  const auto totals = own.leave(sent(1));
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->missing, 0U);
}

TEST_F(job_file, process_whose_file_was_removed_reports_for_itself) {
  JobFile own = job();
  ASSERT_TRUE(own.join());
  std::filesystem::remove(only_file());
  const auto totals = own.leave(sent(5));
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->totals.messages_sent, 5U);
  EXPECT_EQ(totals->processes, 1U);
}

TEST_F(job_file, link_in_its_place_is_not_followed) {
  JobFile own = job();
  ASSERT_TRUE(own.join());
  const std::filesystem::path path = only_file();
  std::filesystem::remove(path);
  const std::filesystem::path target = folder / "target";
  std::ofstream(target) << "text";
  std::filesystem::create_symlink(target, path);
  JobFile next = job();
  EXPECT_FALSE(next.join());
  EXPECT_EQ(errno, ELOOP);
  EXPECT_EQ(std::filesystem::file_size(target), 4U);
}

TEST_F(job_file, file_of_another_version_is_left_alone) {
  JobFile own = job();
  ASSERT_TRUE(own.join());
  {
    std::fstream file(only_file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4);
    file.put('\x7f');
  }
  JobFile next = job();
  EXPECT_FALSE(next.join());
  EXPECT_EQ(errno, EEXIST);
  JobFile other = job("other");
  ASSERT_TRUE(other.join());
  EXPECT_EQ(files(), 2U) << "only that version knows whether its processes run";
}

TEST_F(job_file, missing_folder_is_an_error) {
  JobFile own("key", folder / "nowhere");
  EXPECT_FALSE(own.join());
  EXPECT_EQ(errno, ENOENT);
}

std::map<std::string, const char*> g_variables;
const char* variable(const char* name) {
  const auto found = g_variables.find(name);
  return found == g_variables.end() ? nullptr : found->second;
}

TEST(job_key, is_what_the_launcher_says) {
  g_variables = {};
  EXPECT_EQ(job_key(variable), "");
  g_variables = {{"SLURM_JOB_ID", "7"}};  // a batch script, not a step of srun
  EXPECT_EQ(job_key(variable), "");
  g_variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "2"}};
  EXPECT_EQ(job_key(variable), "slurm 7 2");
  g_variables["PMIX_NAMESPACE"] = "prterun-h1-77@1";  // several mpirun in one step
  EXPECT_EQ(job_key(variable), "pmix prterun-h1-77@1");
  g_variables = {{"PMI_RANK", "0"}};
  EXPECT_EQ(job_key(variable),
            "parent " + std::to_string(::getppid()) + " " + std::to_string(start_of_process(::getppid())));
}

TEST(start_of_process, is_of_processes_that_run) {
  EXPECT_GT(start_of_process(::getpid()), 0U);
  EXPECT_EQ(start_of_process(-1), 0U);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(start_of_process(child), 0U) << "only its exit status is left";
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace

}  // namespace omx::runtime
