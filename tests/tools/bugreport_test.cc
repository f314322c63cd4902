// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text_file.h"
#include "tools/bugreport/command_output.h"
#include "tools/bugreport/command_sections.h"
#include "tools/bugreport/report_facts.h"

namespace omx::tools {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(command_output, both_streams_and_the_status_are_there) {
  const CommandOutput output = command_output({"sh", "-c", "echo out; echo err >&2; cat; exit 3"}, 30s);
  EXPECT_EQ(output.text, "out\nerr\n");
  EXPECT_EQ(output.trouble, "");
  EXPECT_EQ(output.status, 3);
}

TEST(command_output, one_that_is_missing_is_said) {
  EXPECT_EQ(command_output({"omx-no-such-program"}, 30s).trouble, "it is not installed");
}

// Returns what a shell that does not end printed. On a busy host it may begin late, and gets more time then.
CommandOutput output_of_endless(const std::string& script) {
  CommandOutput output;
  for (auto limit = 300ms; output.text.empty(); limit *= 2)
    output = command_output({"sh", "-c", script}, limit);
  return output;
}

TEST(command_output, one_that_does_not_end_is_ended) {
  const CommandOutput output = output_of_endless("echo begun; exec sleep 1000");
  EXPECT_EQ(output.text, "begun\n");
  EXPECT_EQ(output.trouble, "it did not end in time");
  // One that closes its output does not end by that.
  EXPECT_EQ(command_output({"sh", "-c", "exec sleep 1000 >&- 2>&-"}, 300ms).trouble,
            "it did not end in time");
}

TEST(command_output, one_that_prints_without_end_is_ended) {
  const CommandOutput output = command_output({"yes"}, 30s);
  EXPECT_EQ(output.trouble, "it prints more than a report takes");
  EXPECT_LT(output.text.size(), 2U << 20);
}

TEST(command_output, one_that_crashes_is_said) {
  EXPECT_EQ(command_output({"sh", "-c", "kill -SEGV $$"}, 30s).trouble, "it was ended by signal 11");
}

TEST(command_output, one_that_does_not_end_is_ended_with_its_children) {
  const CommandOutput output = output_of_endless("sleep 1000 & echo $!; wait");
  EXPECT_EQ(output.trouble, "it did not end in time");
  const pid_t child = std::stoi(output.text);
  // The child is an orphan now: whoever adopted it reaps it.
  const auto alive = [&] {
    const std::string stat = omx::line_read("/proc/" + std::to_string(child) + "/stat").value_or("");
    return !stat.empty() && stat.find(") Z") == std::string::npos;
  };
  while (alive()) ::usleep(1000);
}

TEST(command_sections, what_a_command_prints_stands_below_its_name) {
  const CommandSections commands;
  EXPECT_EQ(commands.run({"echo", "a", "b"}), "\n==== echo a b ====\na b\n");
  EXPECT_EQ(commands.run({"sh", "-c", "printf a; exit 3"}),
            "\n==== sh -c printf a; exit 3 ====\na\n(exit status 3)\n");
  EXPECT_EQ(commands.run({"omx-no-such-program"}),
            "\n==== omx-no-such-program ====\n(it is not installed)\n");
}

TEST(command_sections, each_command_has_a_limit) {
  const CommandSections commands({.command = 300ms, .report = 1h});
  EXPECT_EQ(commands.run({"sleep", "1000"}), "\n==== sleep 1000 ====\n(it did not end in time)\n");
  EXPECT_EQ(commands.run({"sleep", "1001"}), "\n==== sleep 1001 ====\n(it did not end in time)\n");
}

TEST(command_sections, all_commands_together_have_a_limit) {
  const CommandSections commands({.command = 1h, .report = 300ms});
  const std::string left_out = "(left out: other commands have taken the time of the report)\n";
  // A busy host may take the time of the report before the first command begins.
  EXPECT_THAT(commands.run({"sleep", "1000"}),
              testing::AnyOf(HasSubstr("\n(it did not end in time)\n"), HasSubstr(left_out)));
  EXPECT_EQ(commands.run({"echo", "a"}), "\n==== echo a ====\n" + left_out);
  EXPECT_EQ(commands.own({"info"}), "\n==== omx info ====\n" + left_out);
}

TEST(report_facts, words_of_tables_are_without_comments) {
  EXPECT_THAT(words_in_table("127.0.0.1 localhost\n# 10.0.0.9 none\n\nnode1.example.org\tnode1 # first\n"),
              testing::ElementsAre("127.0.0.1", "localhost", "node1.example.org", "node1"));
}

TEST(report_facts, last_lines_are_the_last) {
  EXPECT_EQ(last_lines("a\nb\nc", 2), "b\nc\n");
  EXPECT_EQ(last_lines("a\n", 2), "a\n");
  EXPECT_EQ(last_lines("", 2), "");
}

TEST(report_facts, only_variables_of_messages_are_told) {
  ::setenv("OMX_BUGREPORT_TEST", "seen", 1);
  ::setenv("BUGREPORT_TEST_OMX_TOKEN", "secret", 1);
  const std::string text = environment_facts();
  EXPECT_THAT(text, HasSubstr("OMX_BUGREPORT_TEST=seen\n"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  ::unsetenv("OMX_BUGREPORT_TEST");
  ::unsetenv("BUGREPORT_TEST_OMX_TOKEN");
}

TEST(report_facts, log_files_of_all_processes_are_found) {
  const std::string folder = testing::TempDir() + "omx-bugreport-" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  for (const char* name : {"a-17.log", "a-18.log"}) std::ofstream(folder + '/' + name) << name << " says\n";
  std::ofstream(folder + "/a-19.log") << "";
  runtime::Settings settings;
  settings.log_file = folder + "/a-%p.log";
  const std::string text = log_file_facts(settings);
  std::filesystem::remove_all(folder);
  EXPECT_THAT(text, HasSubstr("a-17.log says\n"));
  EXPECT_THAT(text, HasSubstr("a-18.log says\n"));
  EXPECT_THAT(text, Not(HasSubstr("a-19.log")));  // it is empty
  EXPECT_EQ(log_file_facts(settings), "there is no such file\n");
}

}  // namespace
}  // namespace omx::tools
