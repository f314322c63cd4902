// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/kernel/egress_clsact.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "egress_fixture.h"
#include "netdev/bpf_call.h"

namespace omx::broker {
namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 512> part{};
  while (pipe && std::fgets(part.data(), part.size(), pipe)) text += part.data();
  if (pipe) ::pclose(pipe);
  return text;
}

// The command that adds a filter of someone else, which every kernel with our kind of filter has.
std::string filter(const std::string& place) {
  return "tc filter add dev v0 " + place + " bpf bytecode '1,6 0 0 4294967295' classid 1:1";
}

class EgressClsactTest : public EgressTest {
 protected:
  void SetUp() override {
    EgressTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto program = egress_program_load(maps_, Unmarked::pass);
    OMX_NEED(program);
    program_ = std::move(*program);
    const auto possible = clsact_add(ifindex_, program_.get());
    OMX_NEED(possible);
    remove();
  }

  ClsactHook found() {
    auto hook = clsact_find(ifindex_);
    EXPECT_TRUE(hook) << hook.error().message;
    return hook ? *hook : ClsactHook{};
  }
  void add() {
    const auto added = clsact_add(ifindex_, program_.get());
    ASSERT_TRUE(added) << added.error().message;
  }
  void remove() {
    const auto removed = clsact_remove(ifindex_);
    ASSERT_TRUE(removed) << removed.error().message;
  }
  std::uint32_t program_id() {
    bpf_prog_info info{};
    EXPECT_TRUE(link::bpf_info_read(program_.get(), &info, sizeof info));
    return info.id;
  }
  static bool has_clsact() { return output_of("tc qdisc show dev v0").find("clsact") != std::string::npos; }

  OwnFd program_;
};

TEST_F(EgressClsactTest, add__is_found_and_removed_with_its_clsact) {
  EXPECT_EQ(found().program_id, 0U);
  remove();  // nothing is there: no error
  add();
  const ClsactHook hook = found();
  EXPECT_EQ(hook.program_id, program_id());
  EXPECT_TRUE(hook.own_clsact);
  EXPECT_TRUE(hook.first);
  EXPECT_TRUE(has_clsact());
  remove();
  EXPECT_EQ(found().program_id, 0U);
  EXPECT_FALSE(has_clsact());
}

TEST_F(EgressClsactTest, add_again__replaces_the_program_and_remembers_the_clsact) {
  add();
  const std::uint32_t before = found().program_id;
  auto next = egress_program_load(maps_, Unmarked::pass);
  ASSERT_TRUE(next);
  program_ = std::move(*next);
  add();
  EXPECT_EQ(found().program_id, program_id());
  EXPECT_NE(found().program_id, before);
  EXPECT_TRUE(found().own_clsact);
  remove();
  EXPECT_FALSE(has_clsact());
}

TEST_F(EgressClsactTest, clsact_of_others__stays) {
  ASSERT_EQ(std::system("tc qdisc add dev v0 clsact"), 0);
  add();
  EXPECT_FALSE(found().own_clsact);
  remove();
  EXPECT_TRUE(has_clsact());
}

TEST_F(EgressClsactTest, filters_of_others__stay) {
  add();
  ASSERT_EQ(std::system(filter("egress pref 7").c_str()), 0);
  ASSERT_EQ(std::system(filter("ingress pref 1").c_str()), 0);
  EXPECT_TRUE(found().first);
  remove();
  EXPECT_TRUE(has_clsact());
  EXPECT_NE(output_of("tc filter show dev v0 egress").find("bytecode"), std::string::npos);
  EXPECT_NE(output_of("tc filter show dev v0 ingress").find("bytecode"), std::string::npos);
}

TEST_F(EgressClsactTest, filter_before_ours__is_seen) {
  ASSERT_EQ(std::system("tc qdisc add dev v0 clsact"), 0);
  ASSERT_EQ(std::system(filter("egress pref 1").c_str()), 0);
  add();
  EXPECT_TRUE(found().first) << "the newest of a priority runs first";
  ASSERT_EQ(std::system(filter("egress pref 1").c_str()), 0);
  EXPECT_NE(found().program_id, 0U);
  EXPECT_FALSE(found().first);
}

TEST_F(EgressClsactTest, priority_taken__the_failure_says_so) {
  ASSERT_EQ(std::system("tc qdisc add dev v0 clsact"), 0);
  ASSERT_EQ(std::system(filter("egress protocol ip pref 1").c_str()), 0);
  const auto added = clsact_add(ifindex_, program_.get());
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("move it to another priority"), std::string::npos)
      << added.error().message;
  EXPECT_TRUE(has_clsact());
}

TEST_F(EgressClsactTest, interface_gone__is_an_error) {
  link::ip("link del v0");
  const auto added = clsact_add(ifindex_, program_.get());
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().mx_code, 5) << added.error().message;
}

}  // namespace
}  // namespace omx::broker
