// SPDX-License-Identifier: BSD-3-Clause
#include "base/log_file.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/log.h"

namespace omx {
namespace {

using testing::HasSubstr;

std::string host() {
  char name[256] = "";
  EXPECT_EQ(::gethostname(name, sizeof name - 1), 0);
  return name;
}

class log_file : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "omx-log-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override {
    log_file_set("");
    g_log_level = static_cast<int>(LogLevel::warn);
    std::filesystem::remove_all(folder);
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(folder / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }

  std::filesystem::path folder;
};

constexpr const char* kTime = "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} ";

TEST(log_file_name, letters) {
  EXPECT_EQ(log_file_name("a-%h-%p-%%"), "a-" + host() + "-" + std::to_string(::getpid()) + "-%");
  EXPECT_EQ(log_file_name(""), "");
  for (const char* bad : {"%", "a%", "%x", "%H", "%%%"}) EXPECT_FALSE(log_file_name(bad)) << bad;
}

TEST_F(log_file, takes_all_lines_and_stderr_only_what_is_wrong) {
  log_file_set(path("log-%p"));
  g_log_level = static_cast<int>(LogLevel::info);
  testing::internal::CaptureStderr();
  log(LogLevel::info, "a fact");
  log(LogLevel::summary, "a summary");
  log(LogLevel::warn, "a warning");
  log(LogLevel::error, "an error");
  log_plain(LogLevel::warn, "somebody: a sentence");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "OMX: warning: a warning\nOMX: error: an error\nsomebody: a sentence\n");
  std::string pattern;
  for (const char* line : {"OMX: a fact", "OMX: a summary", "OMX: warning: a warning", "OMX: error: an error",
                           "somebody: a sentence"})
    pattern += std::string(kTime) + line + "\n";
  EXPECT_TRUE(std::regex_match(text_of("log-" + std::to_string(::getpid())), std::regex(pattern)))
      << text_of("log-" + std::to_string(::getpid()));
}

TEST_F(log_file, is_appended_to_and_may_be_moved_away) {
  std::ofstream(path("log")) << "before\n";
  log_file_set(path("log"));
  testing::internal::CaptureStderr();
  log(LogLevel::warn, "one");
  std::filesystem::rename(path("log"), path("old"));
  log(LogLevel::warn, "two");
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(text_of("old"), testing::StartsWith("before\n"));
  EXPECT_THAT(text_of("old"), HasSubstr("OMX: warning: one\n"));
  EXPECT_THAT(text_of("log"), testing::AllOf(HasSubstr("two"), testing::Not(HasSubstr("one"))));
}

TEST_F(log_file, a_relative_name_stays_where_the_process_was) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directory(folder / "a%b");
  std::filesystem::current_path(folder / "a%b");
  log_file_set("log");
  std::filesystem::current_path(before);
  testing::internal::CaptureStderr();
  log(LogLevel::warn, "one");
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(text_of("a%b/log"), HasSubstr("one"));
}

TEST_F(log_file, one_that_cannot_be_opened_is_reported_once_and_stderr_serves) {
  log_file_set(path("none/log"));
  g_log_level = static_cast<int>(LogLevel::info);
  testing::internal::CaptureStderr();
  log_file_try();
  log(LogLevel::info, "one");
  log(LogLevel::warn, "two");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "OMX: warning: E137: cannot write the log file " + path("none/log") +
                ": No such file or directory; name a file in OMX_LOG_FILE that this process may write; "
                "messages go to stderr\nOMX: one\nOMX: warning: two\n");
}

TEST_F(log_file, without_a_free_descriptor_stderr_serves) {
  log_file_set(path("log"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  testing::internal::CaptureStderr();
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  log(LogLevel::warn, "one");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("Too many open files; raise the limit of open files (ulimit -n)"));
  EXPECT_THAT(said, HasSubstr("OMX: warning: one\n"));
}

TEST_F(log_file, a_pipe_without_a_reader_holds_nobody_up) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  log_file_set(path("pipe"));
  testing::internal::CaptureStderr();
  log(LogLevel::warn, "one");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("OMX: warning: one\n"));
}

// Returns the seconds of the day at the beginning of a line.
int seconds_of(const std::string& line) {
  int hours = 0, minutes = 0, seconds = 0;
  EXPECT_EQ(std::sscanf(line.c_str(), "%*d-%*d-%*d %d:%d:%d", &hours, &minutes, &seconds), 3) << line;
  return (hours * 60 + minutes) * 60 + seconds;
}

TEST_F(log_file, a_forked_child_has_its_own) {
  ::setenv("TZ", "XYZ-5:30", 1);
  ::tzset();
  log_file_set(path("log-%p"));
  testing::internal::CaptureStderr();
  log(LogLevel::warn, "parent");
  const pid_t child = ::fork();
  if (child == 0) {
    log(LogLevel::warn, "child");
    ::_exit(0);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  testing::internal::GetCapturedStderr();
  const std::string mine = text_of("log-" + std::to_string(::getpid()));
  const std::string its = text_of("log-" + std::to_string(child));
  EXPECT_THAT(mine, testing::AllOf(HasSubstr("parent"), testing::Not(HasSubstr("child"))));
  EXPECT_TRUE(std::regex_match(its, std::regex(std::string(kTime) + "OMX: warning: child\n"))) << its;
  // The child does not ask for the time zone, and still prints local time.
  EXPECT_LT((seconds_of(its) - seconds_of(mine) + 86'400) % 86'400, 3'600);
  ::unsetenv("TZ");
  ::tzset();
}

TEST_F(log_file, errno_survives) {
  log_file_set(path("none/log"));
  testing::internal::CaptureStderr();
  errno = EBADF;
  log(LogLevel::warn, "one");
  EXPECT_EQ(errno, EBADF);
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace omx
