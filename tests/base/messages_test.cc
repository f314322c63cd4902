// SPDX-License-Identifier: BSD-3-Clause
// Tests the catalogue of messages. tests/lint/messages_test.py compares it with the sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/log.h"
#include "base/messages/catalogue.h"

namespace omx::messages {
namespace {

// Returns the texts of an entry with "x7" in their gaps.
std::vector<std::string> filled_texts(const Entry& entry) {
  std::vector<std::string> texts;
  std::string text;
  for (std::size_t at = 0; at < entry.texts.size(); at++) {
    if (entry.texts[at] == '\n') {
      texts.push_back(std::move(text));
      text.clear();
    } else if (entry.texts.substr(at, 2) == "{}") {
      text += "x7";
      at++;
    } else {
      text += entry.texts[at];
    }
  }
  EXPECT_TRUE(text.empty()) << entry_id(entry) << " has a text without a newline: " << text;
  return texts;
}

TEST(messages, each_text_is_recognised_as_its_entry) {
  std::size_t count = 0;
  for (const Section* section : sections()) {
    for (const Entry& entry : section->entries) {
      for (const std::string& text : filled_texts(entry)) {
        const Entry* found = entry_recognise(text);
        ASSERT_NE(found, nullptr) << text;
        EXPECT_EQ(found->number, entry.number) << text;
        count++;
      }
    }
  }
  EXPECT_GT(count, 500U);
}

TEST(messages, entries_are_found_by_number) {
  for (const Section* section : sections()) {
    for (const Entry& entry : section->entries) EXPECT_EQ(entry_find(entry.number), &entry);
  }
  EXPECT_EQ(entry_find(0), nullptr);
  EXPECT_EQ(entry_find(999), nullptr);
}

TEST(messages, a_sentence_gets_the_number_of_what_says_most) {
  EXPECT_EQ(tag("eth0: host h2, endpoint 0 has been silent for 10 s; it is given up after 300 s "
                "(OMX_PEER_TIMEOUT_MS)"),
            "E401: ");
  EXPECT_EQ(tag("eth0: host h2, endpoint 0 has been silent for 300 s (OMX_PEER_TIMEOUT_MS) and is given up; "
                "see whether its process, its host and the network are well"),
            "E403: ");
  // The reason says more than the sentence around it.
  EXPECT_EQ(tag("eth0: no connection from a to b: its conversation with this process has ended; insert its "
                "address again (fi_av_insert) to begin another one"),
            "E707: ");
}

TEST(messages, what_goes_on_with_a_sentence_does_not_decide) {
  EXPECT_EQ(tag("eth0: the program at host h2, endpoint 0 has ended; 2 operations with it have failed; 1 "
                "message that was sent to it may not have arrived"),
            "E406: ");
  EXPECT_EQ(tag("; 2 operations with it have failed"), "E403: ");
}

TEST(messages, other_sentences_get_none) {
  EXPECT_EQ(tag(""), "");
  EXPECT_EQ(tag("all is well"), "");
}

TEST(messages, parts_must_be_in_their_order) {
  EXPECT_EQ(tag("h2 is back after 7 s: eth0"), "");
  EXPECT_EQ(tag("eth0: h2 is back after 7 s"), "E402: ");
}

TEST(messages, the_log_prints_the_numbers_of_errors_and_warnings_only) {
  testing::internal::CaptureStderr();
  const int before = g_log_level.exchange(static_cast<int>(LogLevel::info));
  log(LogLevel::warn, "{}: {} is back after {}", "eth0", "h2", "7 s");
  log(LogLevel::error, "{}: {} is back after {}", "eth0", "h2", "8 s");
  log(LogLevel::info, "{}: {} is back after {}", "eth0", "h2", "9 s");
  g_log_level = before;
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "OMX: warning: E402: eth0: h2 is back after 7 s\n"
            "OMX: error: E402: eth0: h2 is back after 8 s\n"
            "OMX: eth0: h2 is back after 9 s\n");
}

}  // namespace
}  // namespace omx::messages
