// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include "xdp_network.h"

namespace omx::link {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class xdp_refusals : public XdpTest {};

TEST(xdp_absent, says_what_to_install) {
  if (xdp_built()) GTEST_SKIP() << "this build has AF_XDP";
  const auto link = xdp_link_open({.packets = {.interface = "v0"}});
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message, AllOf(HasSubstr("libxdp-dev"), HasSubstr("OMX_LINK=ethernet")));
  EXPECT_FALSE(xdp_trial({}));
  EXPECT_FALSE(XdpAttachment::take("v0", 1, XdpMode::generic));
}

TEST_F(xdp_refusals, zero_copy_that_the_driver_has_not) {
  const auto link = attempt("v0", {.mode = XdpMode::zerocopy});
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message,
              AllOf(HasSubstr("v0"), HasSubstr("zero-copy"), HasSubstr("OMX_XDP_MODE")));
  EXPECT_FALSE(programs_of("v0").any());
}

TEST_F(xdp_refusals, a_queue_that_is_not_there) {
  const auto link = attempt("v0", {.queue = 17});
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message, AllOf(HasSubstr("v0"), HasSubstr("17"), HasSubstr("OMX_XDP_QUEUE")));
  EXPECT_FALSE(programs_of("v0").any());
}

TEST_F(xdp_refusals, another_mode_than_that_of_others) {
  OtherProcess other([] {
    static auto held = attempt("v0", {.mode = XdpMode::generic});
    return held.has_value();
  });
  const auto link = attempt("v0", {.mode = XdpMode::copy});
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message, AllOf(HasSubstr("generic"), HasSubstr("OMX_XDP_MODE=copy")));
}

TEST_F(xdp_refusals, a_program_of_others) {
  if (std::system("command -v clang >/dev/null") != 0) GTEST_SKIP() << "no clang here";
  const char* const source =
      "printf '__attribute__((section(\"xdp\"), used)) int other(void* c) { return 2; }' > other.c && "
      "clang -target bpf -O2 -c other.c -o other.o && ip link set dev v0 xdpgeneric obj other.o sec xdp";
  char folder[] = "/tmp/omx-xdp-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const int made = std::system(fmt::format("cd {} && {}", folder, source).c_str());
  EXPECT_EQ(std::system(fmt::format("rm -r {}", folder).c_str()), 0);
  if (made != 0) GTEST_SKIP() << "ip attaches no XDP program here";
  const XdpPresent before = programs_of("v0");
  for (const XdpMode mode : {XdpMode::automatic, XdpMode::copy, XdpMode::generic}) {
    const auto link = attempt("v0", {.mode = mode});
    ASSERT_FALSE(link);
    EXPECT_THAT(link.error().message, AllOf(HasSubstr("v0"), HasSubstr("another XDP program"),
                                            HasSubstr("ip link set dev v0 xdpgeneric off")));
    EXPECT_EQ(programs_of("v0").generic, before.generic);
  }
}

TEST_F(xdp_refusals, no_such_interface) {
  const auto link = attempt("eth77", {});
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().mx_code, 8);
}

TEST_F(xdp_refusals, without_permission_names_the_remedy) {
  ASSERT_EQ(::seteuid(65534), 0);
  const auto link = attempt("v0", {});
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().mx_code, 7);
}

}  // namespace
}  // namespace omx::link
