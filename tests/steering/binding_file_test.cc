// SPDX-License-Identifier: BSD-3-Clause
#include "steering/binding_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu_list.h"
#include "steering/binding_setting.h"
#include "tests/support/fake_tree.h"

namespace omx::steering {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr NicId kBoard = 0x020000000001;

std::string error_of(const std::string& text) {
  const auto lines = binding_file_parse(text, "FILE");
  EXPECT_FALSE(lines.has_value()) << text;
  return lines ? "" : lines.error().message;
}

TEST(binding_setting, what_is_accepted) {
  for (const char* text : {"off", "auto", "all:3", "0-2,4", "4,0,2", "0,0,1", "file", "file:/etc/x"}) {
    const auto setting = binding_setting_parse(text);
    ASSERT_TRUE(setting) << text;
    EXPECT_EQ(binding_setting_text(*setting), text);
  }
  EXPECT_EQ(binding_setting_parse("7")->mode, BindingMode::listed);
  EXPECT_EQ(binding_setting_parse("file")->path, kBindingFile);
  EXPECT_EQ(binding_setting_parse("4,0")->processors, (std::vector<int>{4, 0}));
  EXPECT_EQ(binding_setting_text(BindingSetting()), "off");
  for (const char* text : {"", "on", "all", "all:", "all:1,2", "all:x", "0,", "-1", "0,99999", "file:", "x"})
    EXPECT_FALSE(binding_setting_parse(text)) << text;
}

TEST(binding_file, lines_of_the_original_and_comments) {
  const auto lines = binding_file_parse(
      "# a comment\n\n"
      "board 02:00:00:00:00:01 ep 0 irq 45 mask 00000004  # here, too\r\n"
      "board 02:00:00:00:00:02\tep 255 irq - mask 1,00000002",
      "FILE");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ((*lines)[0].board, kBoard);
  EXPECT_EQ((*lines)[0].endpoint, 0U);
  EXPECT_EQ((*lines)[0].processors, std::vector<int>{2});
  EXPECT_EQ((*lines)[1].endpoint, 255U);
  EXPECT_EQ((*lines)[1].processors, (std::vector<int>{1, 32}));
}

TEST(binding_file, what_is_wrong__is_told_by_its_place_only) {
  const std::string good = "board 02:00:00:00:00:01 ep 0 irq 45 mask 4";
  EXPECT_THAT(error_of(good + "\nroot:secret"),
              testing::AllOf(HasSubstr("FILE:2 is not"), Not(HasSubstr("secret"))));
  for (const char* bad :
       {"board 02:00:00:00:00:01 ep 0 irq 45", "board 02:00:00:00:00:01 ep 256 irq 45 mask 4",
        "board 02:00:00:00:01 ep 0 irq 45 mask 4", "board 02:00:00:00:00:01 ep 0 irq 45 mask 0",
        "board 02:00:00:00:00:01 ep 0 irq 45 mask 4 more", "board 02:00:00:00:00:01 ep x irq 45 mask 4",
        "board 02:00:00:00:00:01 irq 45 ep 0 mask 4", "board 02:00:00:00:00:01 ep 0 irq 45 mask 4,4"})
    EXPECT_THAT(error_of(bad), HasSubstr("FILE:1 is not"));
}

TEST(binding_file, steered_endpoints_by_the_table) {
  ReceiveQueues queues{"eth0", 1, {{0, "40", {1}, ""}}};
  queues.steered = {{3, 2, -1, 1}, "eth0", ""};
  const std::string text =
      binding_file_text({{"eth0", kBoard, queues}}, 4, [](int) { return std::vector<int>{}; });
  const auto lines = binding_file_parse(text, "FILE");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[0].processors, std::vector<int>{3});
  EXPECT_EQ((*lines)[1].processors, std::vector<int>{2});
  EXPECT_EQ((*lines)[2].endpoint, 3U) << "2 is on a processor that is switched off";
}

// Endpoints of one queue get each processor once, then all processors that share the cache.
TEST(binding_file, endpoints_of_one_queue_spread) {
  ReceiveQueues queues{"eth0", 1, {{0, "40", {1}, ""}}};
  const auto beside = [](int) { return std::vector<int>{0, 2}; };
  const std::string text = binding_file_text({{"eth0", kBoard, queues}}, 5, beside);
  const auto lines = binding_file_parse(text, "FILE");
  ASSERT_TRUE(lines) << lines.error().message;
  std::string found;
  for (const BindingLine& line : *lines) found += cpu_mask_text(line.processors) + " ";
  EXPECT_EQ(found, "2 1 4 7 7 ");
  const auto nothing = [](int) { return std::vector<int>{}; };
  EXPECT_THAT(binding_file_text({{"eth0", kBoard, queues}}, 2, nothing),
              HasSubstr("ep 0 irq 40 mask 2\nboard 02:00:00:00:00:01 ep 1 irq 40 mask 2\n"));
}

class binding_file_of_host : public link::FakeTree {};

TEST_F(binding_file_of_host, written_and_read) {
  add_card("eth0", 1);
  add_card("veth0", 2);
  for (int i = 0; i < 2; i++) {
    write("/sys/class/net/eth0/queues/rx-" + std::to_string(i) + "/rps_cpus", "0");
    add_interrupt("eth0", 40 + i, std::to_string(2 + i));
  }
  write("/proc/interrupts", "  CPU0\n 40: 0 MSI eth0-TxRx-0\n 41: 0 MSI eth0-TxRx-1\n");
  std::vector<BindingBoard> boards;
  for (const char* name : {"eth0", "veth0"}) {
    const link::Interface interface = interface_of(name);
    boards.push_back({name, interface.nic, receive_queues_read(root.string(), interface)});
  }
  // Processors 0 and 1 share a cache, and so do 2 and 3.
  const auto beside = [](int cpu) { return std::vector<int>{cpu ^ 1}; };
  const std::string text = binding_file_text(boards, 3, beside);
  EXPECT_THAT(text, HasSubstr("board 02:00:00:00:00:01 ep 1 irq 41 mask 8\n"));
  EXPECT_THAT(text,
              HasSubstr("# veth0 (02:00:00:00:00:02): which processors handle its frames is not known\n"));
  write("/bindings", text);
  const auto lines = binding_file_read(root.string() + "/bindings", BindingTrust::named);
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[0].processors, std::vector<int>{2});
  EXPECT_EQ((*lines)[2].processors, (std::vector<int>{2, 3}));  // both processors are used
}

std::string refusal(const std::string& path, BindingTrust trust = BindingTrust::named) {
  const auto lines = binding_file_read(path, trust);
  return lines ? "read" : lines.error().message;
}

TEST_F(binding_file_of_host, one_that_cannot_be_read) {
  const std::string none = root.string() + "/none";
  EXPECT_THAT(refusal(none), testing::AllOf(HasSubstr("No such file"),
                                            HasSubstr("omx prepare-binding " + none + " writes it")));
  ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(refusal(root.string() + "/fifo"),
              testing::AllOf(HasSubstr("not a regular file"), Not(HasSubstr("prepare-binding"))));
  write("/large", std::string(2 << 20, '#'));
  EXPECT_THAT(refusal(root.string() + "/large"),
              testing::AllOf(HasSubstr("File too large"), Not(HasSubstr("prepare-binding"))));
}

// Any user may write to the folder, so a file is used only if no other user made it or may change it.
TEST_F(binding_file_of_host, one_that_others_may_have_made) {
  const std::string file = root.string() + "/bindings";
  write("/bindings", "board 02:00:00:00:00:01 ep 0 irq 45 mask 4");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(refusal(file, BindingTrust::exposed), "read");
  ASSERT_EQ(::symlink(file.c_str(), (root / "link").c_str()), 0);
  ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  for (const char* name : {"/link", "/fifo", ""})
    EXPECT_THAT(refusal(root.string() + name, BindingTrust::exposed), HasSubstr("only root or this user"));
  EXPECT_EQ(refusal(root.string() + "/link"), "read");
  for (const mode_t mode : {0664U, 0646U}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_THAT(refusal(file, BindingTrust::exposed), HasSubstr("only root or this user"));
    EXPECT_EQ(refusal(file), "read");
  }
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  ASSERT_EQ(::chown(file.c_str(), 12345, 0), 0);
  EXPECT_THAT(refusal(file, BindingTrust::exposed), HasSubstr("only root or this user"));
}

}  // namespace
}  // namespace omx::steering
