// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/claim.h"

#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text_file.h"
#include "tests/support/child.h"

namespace omx::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// No interface has such an index. The process number separates tests that run at the same time.
const std::uint32_t kIfindex = 1'000'000'000U + static_cast<std::uint32_t>(::getpid());

TEST(claim, endpoint__one_holder) {
  auto first = claim_endpoint(kIfindex, 0);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->held());
  const auto second = claim_endpoint(kIfindex, 0);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().mx_code, 20);
  EXPECT_THAT(second.error().message, HasSubstr("this process"));
  EXPECT_TRUE(claim_endpoint(kIfindex, 1));
  EXPECT_TRUE(claim_endpoint(kIfindex + 1, 0));
  *first = Claim();
  EXPECT_TRUE(claim_endpoint(kIfindex, 0));
}

TEST(claim, endpoint__killed_holder_frees_it) {
  Child child([] {
    static Result<Claim> claim = claim_endpoint(kIfindex, 2);
    return claim.has_value();
  });
  ASSERT_TRUE(child.ok());
  const auto holder = claim_holder(kIfindex, 2);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, child.pid());
  EXPECT_EQ(holder->uid, ::getuid());
  const std::string command = line_read("/proc/self/comm").value();  // under an emulator, its name
  EXPECT_EQ(holder->command, command);
  const auto refused = claim_endpoint(kIfindex, 2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr(std::to_string(child.pid())), HasSubstr(command)));
  child.kill();
  EXPECT_FALSE(claim_holder(kIfindex, 2));
  EXPECT_TRUE(claim_endpoint(kIfindex, 2));
}

TEST(claim, holder__its_name_does_nothing_to_a_terminal) {
  Child child([] {
    static Result<Claim> claim = claim_endpoint(kIfindex, 20);
    return claim.has_value() && ::prctl(PR_SET_NAME, "a\033[2J\nb") == 0;
  });
  ASSERT_TRUE(child.ok());
  const auto holder = claim_holder(kIfindex, 20);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->command, "a?[2J?b");
}

// Probes are connections that the holder does not accept. They must not make the holder look dead.
TEST(claim, holder__seen_with_a_full_queue_too) {
  Child child([] {
    static Result<Claim> claim = claim_endpoint(kIfindex, 3);
    return claim.has_value();
  });
  ASSERT_TRUE(child.ok());
  for (int i = 0; i < 200; i++) ASSERT_TRUE(claim_held(kIfindex, 3)) << i;
  const auto holder = claim_holder(kIfindex, 3);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, child.pid());
}

TEST(claim, drain__empties_the_queue) {
  const auto claim = claim_endpoint(kIfindex, 4);
  ASSERT_TRUE(claim);
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 40; i++) ASSERT_EQ(claim_holder(kIfindex, 4)->uid, ::getuid());
    claim->drain();
  }
}

TEST(claim, holder__none) {
  EXPECT_FALSE(claim_holder(kIfindex, 5));
  EXPECT_FALSE(claim_held(kIfindex, 5));
}

// A process without descriptors cannot probe. That must not make other processes' endpoints look closed.
TEST(claim, held__cannot_tell_means_held) {
  const auto claim = claim_endpoint(kIfindex, 7);
  ASSERT_TRUE(claim);
  bool held = false;
  {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    held = claim_held(kIfindex, 7);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  }
  EXPECT_TRUE(held);
}

TEST(claim, try__busy_is_no_failure) {
  const auto held = claim_endpoint(kIfindex, 6);
  const auto again = claim_try(kIfindex, 6);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->held());
}

TEST(claim, responder__next_one_takes_over) {
  auto first = claim_responder(kIfindex);
  ASSERT_TRUE(first);
  EXPECT_FALSE(claim_responder(kIfindex));
  EXPECT_TRUE(claim_responder(kIfindex + 1));
  *first = Claim();
  EXPECT_TRUE(claim_responder(kIfindex));
}

}  // namespace
}  // namespace omx::runtime
