// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/record.h"

#include <gtest/gtest.h>

#include "tools/cluster/channel.h"

namespace omx::tools {

namespace {

TEST(record, comes_back_as_it_was) {
  Record record{"facts", {}};
  record.add("setting.OMX_PEERS", "a=b\tc\n100 %")
      .add("", "")
      .add("number", std::uint64_t{18446744073709551615U});
  const std::string line = record_line(record);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto again = record_parse(line.substr(0, line.size() - 1));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->verb, "facts");
  EXPECT_EQ(again->fields, record.fields);
  EXPECT_EQ(again->number("number"), 18446744073709551615U);
  EXPECT_EQ(again->number("setting.OMX_PEERS"), 0U);
  EXPECT_EQ(again->text("absent"), "");
}

TEST(record, takes_no_other_lines) {
  for (const char* line :
       {"", "Welcome to h1", "omx-check-1", "omx-check-1\t", "omx-check-2\tfacts", "omx-check-1\tfacts\tkey",
        "omx-check-1\tfacts\tkey=%4", "omx-check-1\tfacts\tkey=%zz", "omx-check-1\tfa%"})
    EXPECT_FALSE(record_parse(line)) << line;
}

TEST(record, may_come_by_a_terminal) {
  const auto record = record_parse("omx-check-1\tready\r");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->verb, "ready");
}

TEST(line_buffer, finds_records_between_other_lines) {
  LineBuffer lines;
  lines.add("Last login: today\nomx-che");
  EXPECT_FALSE(lines.next());
  EXPECT_EQ(lines.noise(), "Last login: today");
  lines.add("ck-1\tone\nomx-check-1\ttwo\n");
  EXPECT_EQ(lines.next()->verb, "one");
  EXPECT_EQ(lines.next()->verb, "two");
  EXPECT_FALSE(lines.next());
}

// ssh ends its lines as terminals want them.
TEST(line_buffer, leaves_out_the_carriage_return_of_other_lines) {
  LineBuffer lines;
  lines.add("ssh: connect to host h1 port 22: Connection refused\r\n");
  EXPECT_FALSE(lines.next());
  EXPECT_EQ(lines.noise(), "ssh: connect to host h1 port 22: Connection refused");
}

TEST(line_buffer, drops_an_endless_line) {
  LineBuffer lines;
  lines.add(std::string(kRecordMost + 1, 'x'));
  lines.add("\nomx-check-1\tlater\n");
  EXPECT_EQ(lines.next()->verb, "later");
}

}  // namespace

}  // namespace omx::tools
