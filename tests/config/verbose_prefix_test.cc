// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "config/settings.h"
#include "config/verbose_prefix.h"

namespace omx::runtime {
namespace {

std::optional<std::string> expand(const std::string& format) {
  return verbose_prefix_expand(format, {42, "node1", "3", "0", "enp1s0"});
}

TEST(verbose_prefix_expand, letters) {
  EXPECT_EQ(expand("OMX: "), "OMX: ");
  EXPECT_EQ(expand("%H/%B(%b)#%e@%p 100%% "), "node1/enp1s0(0)#3@42 100% ");
}

TEST(verbose_prefix_expand, one_is_short_for_host_and_process) {
  EXPECT_EQ(expand("1"), "OMX:node1:42 ");
}

TEST(verbose_prefix_expand, ranges) {
  EXPECT_EQ(expand("%H[0-1]"), "no");
  EXPECT_EQ(expand("%B[3-9]!"), "1s0!");
  EXPECT_EQ(expand("%H[9-12]"), "");
  EXPECT_EQ(expand("%p[0-1]"), "42[0-1]");  // only names have ranges
}

TEST(verbose_prefix_expand, malformed) {
  for (const char* format : {"%", "%z", "%H[", "%H[1]", "%H[2-1]", "%H[a-b]", "%B[1-2"})
    EXPECT_EQ(expand(format), std::nullopt) << format;
}

}  // namespace
}  // namespace omx::runtime
