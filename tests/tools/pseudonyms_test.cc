// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/bugreport/keyed_hash.h"
#include "tools/bugreport/pseudonyms.h"

namespace omx::tools {
namespace {

using testing::MatchesRegex;

const HashKey kKey = hash_key_of("a word");

std::string masked(std::string_view text) {
  return Pseudonyms(kKey).mask(text);
}

// The vectors of the paper: the key is 00 01 .. 0f, the text 00 01 .. of each length.
TEST(keyed_hash, agrees_with_the_paper) {
  constexpr HashKey kPaper{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  for (char c = 0; c < 15; c++) text += c;
  EXPECT_EQ(keyed_hash(kPaper, text), 0xa129ca6149be45e5);
  EXPECT_EQ(keyed_hash(kPaper, ""), 0x726fdb47dd0e0e31);
  EXPECT_EQ(keyed_hash(kPaper, text.substr(0, 8)), 0x93f5f5799a932462);
}

TEST(keyed_hash, keys_differ) {
  EXPECT_EQ(hash_key_of("a word"), kKey);
  EXPECT_NE(hash_key_of("another"), kKey);
  EXPECT_NE(hash_key_random(), hash_key_random());
}

TEST(pseudonyms, mac_addresses_are_replaced) {
  EXPECT_THAT(masked("addr 02:4f:4d:58:00:01)"), MatchesRegex("addr mac-[0-9a-f]{5}\\)"));
  EXPECT_THAT(masked("at 02-4f-4d-58-00-01."), MatchesRegex("at mac-[0-9a-f]{5}\\."));
  EXPECT_THAT(masked("addr:02:4f:4d:58:00:01:"), MatchesRegex("addr:mac-[0-9a-f]{5}:"));
  EXPECT_THAT(masked("enx024f4d580001: up"), MatchesRegex("enx-[0-9a-f]{5}: up"));
  EXPECT_EQ(masked("02:4f:4d:58:00:01"), masked("02:4F:4D:58:00:01"));
  EXPECT_NE(masked("02:4f:4d:58:00:01"), masked("02:4f:4d:58:00:02"));
  // Addresses that every host has are no secret.
  EXPECT_EQ(masked("ff:ff:ff:ff:ff:ff 00:00:00:00:00:00"), "ff:ff:ff:ff:ff:ff 00:00:00:00:00:00");
}

TEST(pseudonyms, ip_addresses_are_replaced) {
  EXPECT_THAT(masked("10.77.0.2:27200 is up"), MatchesRegex("ip-[0-9a-f]{5}:27200 is up"));
  EXPECT_THAT(masked("in 10.77.0.0/16."), MatchesRegex("in ip-[0-9a-f]{5}/16\\."));
  EXPECT_THAT(masked("at 10.77.0.2."), MatchesRegex("at ip-[0-9a-f]{5}\\."));
  EXPECT_THAT(masked("peer:10.77.0.2"), MatchesRegex("peer:ip-[0-9a-f]{5}"));
  EXPECT_THAT(masked("10.77.0.2-10.77.0.9"), MatchesRegex("ip-[0-9a-f]{5}-ip-[0-9a-f]{5}"));
  EXPECT_THAT(masked("log_10.77.0.2_1"), MatchesRegex("log_ip-[0-9a-f]{5}_1"));
  EXPECT_THAT(masked("[fe80::4f:4dff:fe58:1]"), MatchesRegex("\\[ip-[0-9a-f]{5}\\]"));
  EXPECT_THAT(masked("fe80::1%eth0: ::ffff:10.77.0.2"), MatchesRegex("ip-[0-9a-f]{5}%eth0: ip-[0-9a-f]{5}"));
  EXPECT_EQ(masked("fe80::AB"), masked("fe80::ab"));
  EXPECT_EQ(masked("127.0.0.1 ::1 0.0.0.0 255.255.0.0"), "127.0.0.1 ::1 0.0.0.0 255.255.0.0");
}

TEST(pseudonyms, other_words_stay) {
  for (const char* text : {"12:34:56.789 dead beef 0000:3b:00.0 6.18.44 0x1f 1.5 s: a:", "omx::tools", "",
                           ":", ".", "a.b", "enx"})
    EXPECT_EQ(masked(text), text);
}

TEST(pseudonyms, hosts_are_replaced_where_they_are_whole_words) {
  Pseudonyms names(kKey);
  names.add_host("node1.example.org");
  names.add_host("h2:0");
  names.add_host("x1.local");
  for (const char* other : {"localhost", "10.0.0.1", "02:4f:4d:58:00:01", "17", "c"}) names.add_host(other);
  EXPECT_THAT(names.mask("node1:0 Node1.example.org node12 node1s (h2) localhost c 17"),
              MatchesRegex("host-[0-9a-f]{5}:0 host-[0-9a-f]{5}\\.domain-[0-9a-f]{5} node12 node1s "
                           "\\(host-[0-9a-f]{5}\\) localhost c 17"));
  // As OMX_LOG_FILE=log-%h-%p makes them.
  EXPECT_THAT(names.mask("log-h2-17 log_h2_17"),
              MatchesRegex("log-host-[0-9a-f]{5}-17 log_host-[0-9a-f]{5}_17"));
  names.add_host("vm");
  EXPECT_THAT(names.mask("process_vm_readv vm_x /vm/x-vm"),
              MatchesRegex("process_vm_readv vm_x /host-[0-9a-f]{5}/x-host-[0-9a-f]{5}"));
  // A domain of one word is replaced only behind its host.
  EXPECT_THAT(names.mask("x1.local, local"), MatchesRegex("host-[0-9a-f]{5}\\.domain-[0-9a-f]{5}, local"));
  EXPECT_THAT(names.mask("at example.org"), MatchesRegex("at domain-[0-9a-f]{5}"));
}

TEST(pseudonyms, reports_agree_if_they_have_the_same_key) {
  Pseudonyms names(kKey), others(kKey), another_key(hash_key_of("another"));
  names.add_host("node2");
  for (Pseudonyms* each : {&names, &others, &another_key}) each->add_host("node1:0");
  EXPECT_EQ(others.mask("node1"), names.mask("node1"));
  EXPECT_NE(another_key.mask("node1"), names.mask("node1"));
}

// A replacement is not replaced again.
TEST(pseudonyms, names_may_be_words_of_replacements) {
  Pseudonyms names(kKey);
  names.add_host("host");
  names.add_host("mac");
  EXPECT_THAT(names.mask("host, mac, 02:4f:4d:58:00:01"),
              MatchesRegex("host-[0-9a-f]{5}, host-[0-9a-f]{5}, mac-[0-9a-f]{5}"));
}

TEST(pseudonyms, users_and_their_folders_are_replaced) {
  Pseudonyms names(kKey);
  names.add_folder("/home/anna", "~");
  names.add_user("anna");
  names.add_user("root");
  EXPECT_THAT(names.mask("/home/anna/log of anna, root"), MatchesRegex("~/log of user-[0-9a-f]{5}, root"));
}

TEST(match_info, numbers_of_16_digits_are_left_out) {
  EXPECT_EQ(without_match_info("match 0x0123456789abcdef mask 0xffffffffffffffff, 4 bytes at 0x12"),
            "match 0x(left out) mask 0x(left out), 4 bytes at 0x12");
  EXPECT_EQ(without_match_info("0x0123456789abcde"), "0x0123456789abcde");
}

}  // namespace
}  // namespace omx::tools
