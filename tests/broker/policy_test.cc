// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/policy.h"

#include <gmock/gmock.h>

#include <utility>

#include "tests/broker/made_up_accounts.h"
#include "tools/broker/policy_file.h"

namespace omx::broker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kPath = "/etc/open-mx/broker.conf";

Policy policy(const std::string& text, const Accounts& accounts = made_up_accounts()) {
  const auto parsed = policy_parse(text, kPath, accounts);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed.value_or(Policy());
}

User user(uid_t uid) {
  return made_up_accounts().user(uid);
}

link::Choice board(const std::string& name) {
  link::Choice choice;
  choice.interface.name = name;
  choice.taken = true;
  return choice;
}

// Returns "confined", "trusted" or the sentence why not.
std::string answer(const Policy& p, uid_t uid, const std::string& name = "eth0") {
  const auto mode = p.may(user(uid), board(name));
  return mode ? std::string(mode_name(*mode)) : mode.error().message;
}

TEST(policy_may, default__only_the_group_open_mx) {
  const Policy p = policy("");
  EXPECT_EQ(answer(p, kAlice), "confined");
  EXPECT_EQ(
      answer(p, kCarol),
      "user carol (1003) may have no raw frames on eth0: /etc/open-mx/broker.conf allows group open-mx; the "
      "administrator adds the user to the group (usermod -aG open-mx NAME), and the user logs in again");
  EXPECT_EQ(p.may(user(kCarol), board("eth0")).error().mx_code, 7);  // MX_NO_PERM
}

// A container's root without CAP_NET_RAW has uid 0, too.
TEST(policy_may, root__is_a_user_like_any_other) {
  EXPECT_THAT(answer(policy(""), 0), HasSubstr("user root (0) may have no raw frames"));
  EXPECT_EQ(answer(policy("users = root"), 0), "confined");
}

TEST(policy_may, users__names_numbers_and_all) {
  const Policy named = policy("users = carol, 65534\ngroups =\n");
  EXPECT_EQ(answer(named, kCarol), "confined");
  EXPECT_EQ(answer(named, kStranger), "confined");
  EXPECT_THAT(answer(named, kAlice),
              AllOf(HasSubstr("allows user carol, user 65534;"), HasSubstr("\"users\" there")));
  EXPECT_EQ(answer(policy("users = *"), kStranger), "confined");
  EXPECT_THAT(answer(policy("users = \ngroups = "), kAlice), HasSubstr("allows no user;"));
}

TEST(policy_may, groups__any_group_of_the_user) {
  const Policy p = policy("groups = hpc, open-mx");
  EXPECT_EQ(answer(p, kAlice), "confined");
  EXPECT_EQ(answer(p, kBob), "confined");
  EXPECT_THAT(answer(p, kStranger),
              AllOf(HasSubstr("user 65534 may"), HasSubstr("group hpc, group open-mx;")));
}

// An unknown default group must not match users without an account.
TEST(policy_may, host_without_the_default_group) {
  Accounts accounts = made_up_accounts();
  accounts.gid_of = [](const std::string&) { return std::nullopt; };
  const Policy p = policy("", accounts);
  EXPECT_THAT(answer(p, kAlice), HasSubstr("(groupadd --system open-mx && usermod -aG open-mx NAME)"));
  EXPECT_THAT(answer(p, 0), HasSubstr("allows group open-mx;"));
}

TEST(policy_may, trusted__only_who_is_named) {
  const Policy p = policy("users = *\nboard eth1 mode = trusted\n");
  EXPECT_EQ(answer(p, kAlice, "eth0"), "confined");
  EXPECT_EQ(answer(p, kAlice, "eth1"), "trusted");
  EXPECT_EQ(answer(p, kCarol, "eth0"), "confined");
  EXPECT_THAT(answer(p, kCarol, "eth1"),
              AllOf(HasSubstr("trusted mode"), HasSubstr("\"users = *\" does not")));
}

TEST(policy_may, board__its_own_users_and_groups_alone) {
  const Policy p = policy("board eth1 groups = hpc\nboard eth2 users = carol\n");
  EXPECT_EQ(answer(p, kAlice, "eth0"), "confined");
  EXPECT_THAT(answer(p, kAlice, "eth1"), HasSubstr("allows group hpc;"));
  EXPECT_EQ(answer(p, kBob, "eth1"), "confined");
  EXPECT_THAT(answer(p, kBob, "eth0"), HasSubstr("allows group open-mx;"));
  EXPECT_EQ(answer(p, kCarol, "eth2"), "confined");
  EXPECT_THAT(answer(p, kAlice, "eth2"), HasSubstr("allows user carol;"));
}

TEST(policy_may, board__that_is_none_of_the_broker) {
  link::Choice other = board("lo");
  other.taken = false;
  other.reason = "loopback";
  const auto mode = policy("users = *").may(user(kAlice), other);
  ASSERT_FALSE(mode);
  EXPECT_EQ(mode.error().message,
            "user alice (1001) may have no raw frames on lo: it is no board of the broker (loopback)");
}

TEST(policy_may, served__the_stricter_mode_decides) {
  const Policy confined = policy("users = *, alice\n"),
               trusted = policy("users = *, alice\nmode = trusted\n");
  EXPECT_EQ(*confined.may(user(kAlice), board("eth0"), Mode::trusted), Mode::trusted);
  EXPECT_EQ(*trusted.may(user(kAlice), board("eth0"), Mode::confined), Mode::confined);
  EXPECT_TRUE(confined.may(user(kCarol), board("eth0"), Mode::confined));
  EXPECT_FALSE(confined.may(user(kCarol), board("eth0"), Mode::trusted));
  EXPECT_FALSE(trusted.may(user(kCarol), board("eth0"), Mode::confined));
}

TEST(policy_may, no_endpoints__shuts_a_user_out) {
  const Policy p = policy("users = *\nuser bob endpoints = 0\n");
  EXPECT_THAT(answer(p, kBob), HasSubstr("gives the user no endpoints"));
  EXPECT_EQ(answer(p, kCarol), "confined");
}

TEST(policy_may, sentences__no_control_characters_and_a_limit) {
  Policy p = policy("");
  p.file = "/" + std::string(400, 'p');
  p.members.groups.assign(9, {std::string(90, 'g'), 1});
  p.members.users.assign(9, {"a\x1B[2J" + std::string(90, 'u'), 1});
  const User odd{77, "x\ny" + std::string(90, 'n'), {}};
  const auto refused = p.may(odd, board("eth0"));
  ASSERT_FALSE(refused);
  EXPECT_LE(refused.error().message.size(), 512U);
  EXPECT_EQ(refused.error().message.find_first_of("\n\x1B"), std::string::npos);
}

TEST(policy_limits_of, defaults) {
  EXPECT_EQ(policy("").limits_of(user(kAlice)), Limits());
  EXPECT_EQ(Limits().endpoints, 64U);
  EXPECT_EQ(Limits().memory, std::uint64_t{4} << 30);
}

TEST(policy_limits_of, user_before_groups_before_all) {
  const Policy p = policy(
      "endpoints = 10\nconnections = 20\nmemory = 64M\n"
      "group hpc endpoints = 30\ngroup hpc connections = 40\n"
      "user bob endpoints = 5\n");
  const Limits bob = p.limits_of(user(kBob));
  EXPECT_EQ(bob.endpoints, 5U);
  EXPECT_EQ(bob.connections, 40U);
  EXPECT_EQ(bob.memory, 64U << 20);
  EXPECT_EQ(p.limits_of(user(kCarol)).endpoints, 10U);
  EXPECT_EQ(p.limits_of(user(kStranger)).connections, 20U);
}

// A process can drop groups in a user namespace of its own.
TEST(policy_limits_of, groups_of_the_account__count_though_the_process_has_dropped_them) {
  const Policy p = policy("endpoints = 10\ngroup hpc endpoints = 3\n");
  User bob = user(kBob);
  EXPECT_EQ(p.limits_of(bob).endpoints, 3U);
  bob.account_gids = std::exchange(bob.gids, {});
  EXPECT_EQ(p.limits_of(bob).endpoints, 3U);
}

TEST(policy_limits_of, several_groups__the_most_counts) {
  const Policy p = policy(
      "rate = 5G\ngroup students endpoints = 8\ngroup hpc endpoints = 4\n"
      "group hpc rate = 1G\ngroup students rate = 2G\n");
  EXPECT_EQ(p.limits_of(user(kBob)).endpoints, 8U);
  EXPECT_EQ(p.limits_of(user(kBob)).rate, 2'000'000'000U);
  EXPECT_EQ(p.limits_of(user(kAlice)).rate, 5'000'000'000U);
  for (const char* free : {"group hpc rate = none\ngroup students rate = 2G\n",
                           "group hpc rate = 2G\ngroup students rate = none\n"})
    EXPECT_EQ(policy(std::string("rate = 1G\n") + free).limits_of(user(kBob)).rate, 0U) << free;
}

// A group's limit may also be lower than that of all.
TEST(policy_limits_of, group__lowers) {
  EXPECT_EQ(policy("group students endpoints = 2").limits_of(user(kBob)).endpoints, 2U);
}

TEST(policy_boards, mode_and_passthru__of_all_and_of_one) {
  const Policy p =
      policy("mode = trusted\npassthru = yes\nboard eth1 mode = confined\nboard eth2 passthru = no\n");
  EXPECT_EQ(p.mode_of("eth0"), Mode::trusted);
  EXPECT_EQ(p.mode_of("eth1"), Mode::confined);
  EXPECT_TRUE(p.passthru_of("eth1"));
  EXPECT_FALSE(p.passthru_of("eth2"));
}

TEST(policy_boards, chosen_as_open_mx_does) {
  std::vector<link::Interface> all(2);
  all[0].name = "eth0";
  all[1].name = "br0";
  for (auto& i : all) i.ethernet = i.up = i.running = true;
  all[1].virtual_kind = true;
  all[1].kind = "bridge";
  const auto usual = policy("").boards_choose(all);
  ASSERT_TRUE(usual);
  EXPECT_TRUE((*usual)[0].taken);
  EXPECT_FALSE((*usual)[1].taken);
  EXPECT_EQ((*usual)[1].reason, "bridge: only taken when named in \"boards\" in /etc/open-mx/broker.conf");
  EXPECT_TRUE((*policy("boards = br0").boards_choose(all))[0].taken);
  const auto unknown = policy("boards = eth9").boards_choose(all);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("\"boards\" in /etc/open-mx/broker.conf names eth9"));
}

TEST(policy_socket_mode, for_all_as_soon_as_another_may) {
  EXPECT_EQ(policy("").socket_mode_of(), 0660U);
  EXPECT_EQ(policy("groups =").socket_mode_of(), 0660U);
  EXPECT_EQ(policy("groups = hpc\nsocket_group = hpc").socket_mode_of(), 0660U);
  for (const char* other : {"users = *", "users = alice", "groups = hpc", "groups = open-mx, hpc",
                            "board eth1 users = alice", "socket_group = hpc"})
    EXPECT_EQ(policy(other).socket_mode_of(), 0666U) << other;
  EXPECT_EQ(policy("users = *\nsocket_mode = 0600").socket_mode_of(), 0600U);
}

}  // namespace
}  // namespace omx::broker
