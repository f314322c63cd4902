// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/policy_file.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "tests/broker/made_up_accounts.h"
#include "tools/broker/policy_keys.h"

namespace omx::broker {
namespace {

using testing::HasSubstr;

Result<Policy> parse(const std::string& text) {
  return policy_parse(text, "FILE", made_up_accounts());
}

std::string error_of(const std::string& text) {
  const auto policy = parse(text);
  EXPECT_FALSE(policy.has_value()) << text;
  return policy ? "" : policy.error().message;
}

TEST(policy_parse, every_key__and_a_mistake_at_the_end) {
  const auto p = parse(
      "# all of it\n"
      "users = alice,bob 65534   # two accounts and a number\n"
      "groups = hpc\n"
      "boards = eth0, eth1\n"
      "mode = confined\n"
      "passthru = off\n"
      "endpoints = 7\n"
      "memory = 1G\n"
      "connections = 9\n"
      "rate = 10G\n"
      "memory_total = 8G\n"
      "request_timeout_ms = 250\n"
      "socket = \"/run/other socket\"\n"
      "socket_mode = 0600\n"
      "socket_group = hpc\n"
      "user 1001 rate = none\n"
      "group 2001 memory = 512K000\n");
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().message,
            "FILE:17: group 2001 memory = \"512K000\" is not accepted; give a whole number from 1048576 to "
            "1099511627776 bytes; K, M or G may follow");
}

TEST(policy_parse, values) {
  const auto p = parse(
      "users = alice,bob 65534\r\nboards = eth0, eth1\nmemory = 1G\nrate = 10G\nmemory_total = 8g\n"
      "request_timeout_ms = 250\nsocket = \"/run/other socket\"\nsocket_group = hpc\n\tuser  "
      "alice\trate=none\n"
      "board enp3s0f0 passthru = yes\n");
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->members.users.size(), 3U);
  EXPECT_EQ(p->members.users[2].id, 65534U);
  EXPECT_EQ(p->members.groups[0].id, kOpenMx);
  EXPECT_EQ(p->boards, "eth0, eth1");
  EXPECT_EQ(p->limits.memory, 1U << 30);
  EXPECT_EQ(p->limits.rate, 10'000'000'000U);
  EXPECT_EQ(p->memory_total, std::uint64_t{8} << 30);
  EXPECT_EQ(p->request_timeout_ms, 250U);
  EXPECT_EQ(p->socket.path, "/run/other socket");
  EXPECT_EQ(p->socket.group.id, kHpc);
  EXPECT_EQ(p->user_changes.at(kAlice).rate, 0U);
  EXPECT_TRUE(p->passthru_of("enp3s0f0"));
  EXPECT_EQ(p->file, "FILE");
}

TEST(policy_parse, unknown_key) {
  EXPECT_EQ(error_of("\nendpoint = 3"), "FILE:2: unknown key \"endpoint\"; did you mean \"endpoints\"?");
  EXPECT_THAT(error_of("colour = red"),
              HasSubstr("FILE:1: unknown key \"colour\"; keys are users, groups, boards,"));
  EXPECT_EQ(error_of("board eth0 colour = red"),
            "FILE:1: unknown key \"colour\"; keys are users, groups, mode, passthru");
}

TEST(policy_parse, key_for_something_else) {
  EXPECT_EQ(error_of("user alice mode = trusted"),
            "FILE:1: mode cannot be set for a user; write \"mode = ...\" or \"board NAME mode = ...\"");
  EXPECT_EQ(error_of("group hpc socket = /x"),
            "FILE:1: socket cannot be set for a group; write \"socket = ...\"");
  EXPECT_EQ(error_of("board eth1 rate = 1G"),
            "FILE:1: rate cannot be set for a board; write \"rate = ...\" or \"user NAME rate = ...\" or "
            "\"group NAME "
            "rate = ...\"");
}

TEST(policy_parse, no_key) {
  EXPECT_EQ(error_of("endpoints 3"), "FILE:1: no '=' in \"endpoints 3\"; write \"key = value\"");
  EXPECT_THAT(error_of("user alice = 3"), HasSubstr("\"user alice\" is no key; write"));
  EXPECT_THAT(error_of("= 3"), HasSubstr("\"\" is no key; write"));
  EXPECT_EQ(error_of("host h1 endpoints = 3"),
            "FILE:1: \"host\" is not user, group or board; write one of these before the name");
}

TEST(policy_parse, accounts_that_there_are_not) {
  EXPECT_EQ(error_of("users = alice, alise"),
            "FILE:1: this host has no user \"alise\"; correct the name, or create it (adduser NAME)");
  EXPECT_EQ(error_of("#\ngroup hcp rate = 1G"),
            "FILE:2: this host has no group \"hcp\"; correct the name, or create it (groupadd NAME)");
  EXPECT_THAT(error_of("user mallory endpoints = 1"), HasSubstr("no user \"mallory\""));
  EXPECT_THAT(error_of("socket_group = hcp"), HasSubstr("no group \"hcp\""));
  EXPECT_THAT(error_of("users = -1"), HasSubstr("no user \"-1\""));
  // The kernel's number for "none".
  EXPECT_THAT(error_of("users = 4294967295"), HasSubstr("no user \"4294967295\""));
  EXPECT_THAT(error_of("groups = *"), HasSubstr("write \"users = *\""));
  const std::string with_nul("users = alice\0x", 15);
  EXPECT_THAT(error_of(with_nul), HasSubstr("no user \"alice?x\""));
}

TEST(policy_parse, twice) {
  EXPECT_EQ(error_of("rate = 1G\n\nrate = 1G"),
            "FILE:3: \"rate\" was set in line 1 already; remove one of the two");
  EXPECT_EQ(error_of("user alice rate = 1G\nuser 1001 rate = 2G"),
            "FILE:2: \"user 1001 rate\" was set in line 1 already; remove one of the two");
  // A user and a group may have the same number, and boards differ.
  EXPECT_TRUE(parse("user 7 rate = 1G\ngroup 7 rate = 1G\nboard a mode = trusted\nboard b mode = trusted"));
}

TEST(policy_parse, bad_values) {
  for (const char* line : {"endpoints = -1",
                           "endpoints = 4097",
                           "endpoints =",
                           "endpoints = 1K",
                           "memory = 4K",
                           "memory = 2000G",
                           "connections = 0",
                           "rate = 999",
                           "rate = 0",
                           "rate = 1001G",
                           "rate = 1Gbit",
                           "mode = open",
                           "mode =",
                           "passthru = maybe",
                           "memory_total = 0",
                           "request_timeout_ms = 99",
                           "request_timeout_ms = 5s",
                           "socket = run/broker",
                           "socket =",
                           "socket_mode = 888",
                           "socket_mode = 01777",
                           "socket_mode =",
                           "socket_mode = rw",
                           "socket_group = hpc open-mx",
                           "socket_group =",
                           "user alice endpoints = x"}) {
    EXPECT_THAT(error_of(line),
                testing::StartsWith("FILE:1: " + std::string(line).substr(0, std::string(line).find(" ="))))
        << line;
    EXPECT_THAT(error_of(line), HasSubstr("is not accepted; give ")) << line;
  }
  EXPECT_FALSE(parse("socket = /" + std::string(107, 'x')));
  EXPECT_TRUE(parse("socket = /" + std::string(106, 'x')));
}

TEST(policy_parse, names_of_interfaces) {
  EXPECT_EQ(error_of("board ../x mode = trusted"),
            "FILE:1: \"../x\" is no name of an interface; ip link lists the names");
  EXPECT_FALSE(parse("board sixteen-letters- mode = trusted"));
  EXPECT_TRUE(parse("board eth0.100 mode = trusted"));
}

// The example shows every key with its default, commented out.
TEST(policy_parse, example__lines_are_the_defaults) {
  std::ifstream in(OMX_EXAMPLES "/broker.conf");
  std::stringstream text;
  text << in.rdbuf();
  ASSERT_GT(text.str().size(), 100U);
  const auto as_it_is = parse(text.str());
  ASSERT_TRUE(as_it_is) << as_it_is.error().message;
  // Lines with a prefix are examples, not defaults.
  std::string defaults;
  std::set<std::string> keys;
  std::istringstream lines(text.str());
  const std::regex commented("# ([a-z_]+) = ?(.*)");
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, match, commented)) continue;
    defaults += line.substr(2) + "\n";
    keys.insert(match[1]);
  }
  for (const PolicyKey& key : policy_keys()) EXPECT_TRUE(keys.contains(std::string(key.name))) << key.name;
  const auto p = parse(defaults);
  ASSERT_TRUE(p) << p.error().message;
  const Policy d = *parse("");
  EXPECT_EQ(p->limits, d.limits);
  EXPECT_EQ(p->mode, d.mode);
  EXPECT_EQ(p->passthru, d.passthru);
  EXPECT_EQ(p->boards, d.boards);
  EXPECT_TRUE(p->members.users.empty() && !p->members.everyone);
  EXPECT_EQ(p->members.groups[0].id, d.members.groups[0].id);
  EXPECT_EQ(p->memory_total, d.memory_total);
  EXPECT_EQ(p->request_timeout_ms, d.request_timeout_ms);
  EXPECT_EQ(p->socket.path, d.socket.path);
  EXPECT_EQ(p->socket.mode, d.socket.mode);
  EXPECT_EQ(p->socket.group.id, d.socket.group.id);
}

// Lines made of pieces that mean something, and of bytes that mean nothing.
TEST(policy_parse, any_bytes__give_a_policy_within_limits_or_one_sentence) {
  const std::string pieces[] = {"user ",
                                "group ",
                                "board ",
                                "alice ",
                                "hpc ",
                                "eth0 ",
                                "endpoints",
                                "rate",
                                "memory",
                                "mode",
                                "users",
                                "groups",
                                " = ",
                                "\n",
                                "#",
                                "\"",
                                "1G",
                                "confined",
                                "64",
                                "*",
                                ",",
                                "\r\n",
                                "=",
                                " ",
                                "none",
                                "socket_mode",
                                "0660",
                                "auto",
                                "socket",
                                "/x",
                                std::string(300, 'z')};
  const std::regex one_sentence("^FILE:[0-9]+: .*; .*");
  std::mt19937 random(20261126);  // a failure is the same in every run
  int accepted = 0;
  for (int round = 0; round < 5000; round++) {
    std::string text;
    for (unsigned i = random() % 24; i > 0; i--) {
      if (random() % 8 == 0) {
        text += static_cast<char>(random());
      } else {
        text += pieces[random() % std::size(pieces)];
      }
    }
    const auto p = parse(text);
    if (!p) {
      const std::string& sentence = p.error().message;
      ASSERT_TRUE(std::regex_search(sentence, one_sentence)) << sentence << "\n" << text;
      ASSERT_LE(sentence.size(), 512U) << text;
      ASSERT_TRUE(std::none_of(sentence.begin(), sentence.end(),
                               [](unsigned char c) { return c < ' ' || c == 0x7f; }));
      continue;
    }
    accepted++;
    const Limits limits = p->limits_of(made_up_accounts().user(kBob));
    ASSERT_LE(limits.endpoints, 4096U);
    ASSERT_GE(limits.memory, 1U << 20);
    ASSERT_GE(limits.connections, 1U);
    ASSERT_LE(p->socket_mode_of(), 0777U);
  }
  EXPECT_GT(accepted, 300);
}

// A folder with a policy file, which lives as long as the test.
class PolicyLoad : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    file_ = folder_ + "/broker.conf";
    std::ofstream(file_) << "endpoints = 5\n";
    ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  }
  void TearDown() override {
    ::unlink(file_.c_str());
    ::unlink((folder_ + "/other").c_str());
    ::rmdir(folder_.c_str());
  }
  Result<Policy> load(uid_t owner = ::geteuid()) { return policy_load(file_, made_up_accounts(), owner); }
  std::string error_of_load(uid_t owner = ::geteuid()) {
    const auto policy = load(owner);
    return policy ? "" : policy.error().message;
  }

  std::string folder_ = "/tmp/omx-policy-XXXXXX", file_;
};

TEST_F(PolicyLoad, file) {
  const auto p = load();
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->limits.endpoints, 5U);
  EXPECT_EQ(p->file, file_);
}

TEST_F(PolicyLoad, file_of_another_owner) {
  EXPECT_EQ(
      error_of_load(::geteuid() + 1),
      file_ + ": it must be a regular file of root that no other user may write; chown root and chmod 644");
}

TEST_F(PolicyLoad, file_that_others_may_write) {
  for (const mode_t mode : {0664, 0646, 0666}) {
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
    EXPECT_THAT(error_of_load(), HasSubstr("no other user may write"));
  }
}

// A named pipe would block, and a device might do worse.
TEST_F(PolicyLoad, file_that_is_not_a_regular_one) {
  ::unlink(file_.c_str());
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(error_of_load(), HasSubstr("must be a regular file"));
  file_ = "/dev/zero";
  EXPECT_THAT(error_of_load(0), HasSubstr("must be a regular file"));
  file_ = folder_ + "/broker.conf";
}

// Tools that manage configurations make links. What counts is the file.
TEST_F(PolicyLoad, link__is_followed) {
  const std::string link = folder_ + "/other";
  ASSERT_EQ(::symlink(file_.c_str(), link.c_str()), 0);
  EXPECT_TRUE(policy_load(link, made_up_accounts(), ::geteuid()));
}

TEST_F(PolicyLoad, named_file_that_is_not_there) {
  ::unlink(file_.c_str());
  EXPECT_EQ(error_of_load(),
            file_ + ": No such file or directory; correct the path (omxd --config FILE) or the file");
}

TEST_F(PolicyLoad, mistake__names_file_and_line) {
  std::ofstream(file_) << "#\nendpoints = many\n";
  EXPECT_THAT(error_of_load(),
              HasSubstr(file_ + ":2: endpoints = \"many\" is not accepted; give a whole number"));
}

TEST(policy_load, default_file__is_not_needed) {
  if (::access(kPolicyFile, F_OK) == 0) GTEST_SKIP() << kPolicyFile << " exists";
  const auto p = policy_load("", made_up_accounts());
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->file, kPolicyFile);
}

TEST(accounts_of_host, knows_root) {
  const Accounts accounts = accounts_of_host();
  EXPECT_EQ(accounts.uid_of("root"), 0U);
  EXPECT_EQ(accounts.gid_of("root"), 0U);
  EXPECT_FALSE(accounts.uid_of("no-such-user-of-this-test"));
  EXPECT_FALSE(accounts.gid_of("no-such-group-of-this-test"));
  const User root = accounts.user(0);
  EXPECT_EQ(user_text(root), "root (0)");
  EXPECT_THAT(root.gids, testing::Contains(0U));
  EXPECT_EQ(user_text(accounts.user(4'000'000'000U)), "4000000000");
  EXPECT_TRUE(accounts.user(4'000'000'000U).gids.empty());
}

}  // namespace
}  // namespace omx::broker
