// SPDX-License-Identifier: BSD-3-Clause
// Strings and the error handler (docs/spec/mx-api.md 4.1, 5). Calls that end the process run in forked ones.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "mx_pair.h"
#include "open-mx.h"

namespace omx::mx_tests {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kDied = 255;  // exit(-1)

// Runs `body` in a forked process and returns what it printed on stderr and its exit status.
std::pair<std::string, int> outcome(const std::function<void()>& body) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const int status = in_child([&] {
    ::dup2(ends[1], STDERR_FILENO);
    body();
    return 0;
  });
  ::close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n = ::read(ends[0], buffer, sizeof buffer); n > 0; n = ::read(ends[0], buffer, sizeof buffer))
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  return {text, status};
}

void fail_once() {
  mx_board_number_to_nic_id(0, nullptr);
}

TEST(strerror, has_a_text_for_every_code) {
  std::set<std::string> texts;
  for (int code = MX_SUCCESS; code <= MX_NOT_SUPPORTED_WITH_CONTEXT_ID; code++) {
    const char* text = mx_strerror(static_cast<mx_return_t>(code));
    ASSERT_NE(text, nullptr);
    EXPECT_TRUE(texts.insert(text).second) << code << " shares the text " << text;
  }
  EXPECT_EQ(texts.count("unknown return code"), 0U);
  for (const int code : {-1, 44, 89, 98, 100, 1 << 30})
    EXPECT_STREQ(mx_strerror(static_cast<mx_return_t>(code)), "unknown return code");
}

TEST(strerror, native_covers_completions) {
  for (const int code : {90, 91, 92, 93, 94, 95, 96, 97, 99})
    EXPECT_STRNE(omx_strerror(static_cast<omx_return_t>(code)), "unknown return code") << code;
  EXPECT_STREQ(omx_strerror(OMX_MESSAGE_TRUNCATED), "message truncated");
}

TEST(strstatus, has_a_text_for_every_status) {
  std::set<std::string> texts;
  for (int code = MX_STATUS_SUCCESS; code <= MX_STATUS_NO_RESOURCES; code++)
    EXPECT_TRUE(texts.insert(mx_strstatus(static_cast<mx_status_code_t>(code))).second) << code;
  EXPECT_EQ(texts.count("unknown status code"), 0U);
  EXPECT_STREQ(mx_strstatus(static_cast<mx_status_code_t>(17)), "unknown status code");
  EXPECT_STREQ(mx_strstatus(static_cast<mx_status_code_t>(-1)), "unknown status code");
}

TEST(error_handler, initial_one_prints_and_ends_the_process) {
  const auto [text, status] = outcome(fail_once);
  EXPECT_EQ(status, kDied);
  EXPECT_THAT(text, HasSubstr("mx_board_number_to_nic_id"));
  EXPECT_THAT(text, HasSubstr("not initialized"));
}

TEST(error_handler, initial_one_returns_where_the_environment_says_so) {
  for (const char* name : {"MX_ERRORS_ARE_FATAL", "OMX_FATAL_ERRORS"}) {
    Environment environment;
    environment.set(name, "0");
    EXPECT_EQ(outcome(fail_once), std::pair(std::string(), 0)) << name;
  }
  Environment environment;
  environment.set("MX_ERRORS_ARE_FATAL", "0");
  environment.set("OMX_IGNORE_MX_ENV", "1");
  EXPECT_EQ(outcome(fail_once).second, kDied);
}

TEST(error_handler, initial_one_reads_the_environment_as_the_settings_do) {
  {
    Environment environment;
    environment.set("OMX_FATAL_ERRORS", "no");
    EXPECT_EQ(outcome(fail_once).second, 0);
  }
  Environment environment;
  environment.set("MX_ERRORS_ARE_FATAL", "off");
  EXPECT_EQ(outcome(fail_once).second, 0);
  environment.set("OMX_FATAL_ERRORS", "on");
  EXPECT_EQ(outcome(fail_once).second, kDied);
  environment.set("OMX_FATAL_ERRORS", "0");
  environment.set("MX_ERRORS_ARE_FATAL", "");
  EXPECT_EQ(outcome(fail_once).second, 0);
}

// A text of a code has the number of failed calls. A sentence has its own.
TEST(error_handler, initial_one_prints_numbers) {
  EXPECT_THAT(
      outcome(fail_once).first,
      HasSubstr("Open-MX: E500: mx_board_number_to_nic_id: not initialized (error 4: not initialized)\n"));
  Environment environment;
  environment.set("OMX_INTERFACES", "nonesuch");
  EXPECT_THAT(outcome([] { mx_init(); }).first,
              HasSubstr("Open-MX: E107: mx_init: OMX_INTERFACES names nonesuch, which does not exist; "));
}

TEST(error_handler, initial_one_ignores_mx_names_as_the_settings_do) {
  Environment environment;
  environment.set("MX_ERRORS_ARE_FATAL", "0");
  environment.set("OMX_IGNORE_MX_ENV", "yes");
  EXPECT_EQ(outcome(fail_once).second, kDied);
}

TEST(error_handler, initial_one_returns_a_failing_init_where_the_file_says_so) {
  const std::string path = "/tmp/omx-errors-" + std::to_string(::getpid());
  Environment environment;
  environment.set("OMX_CONFIG", path);
  environment.set("OMX_INTERFACES", "nonesuch");
  for (const char* text : {"fatal_errors = 0\n", "fatal_errors = no\nspin_us = soon\n"}) {
    std::ofstream(path) << text;
    const auto [printed, status] = outcome([] { mx_init(); });
    EXPECT_EQ(status, 0) << printed;
    EXPECT_THAT(printed, ContainsRegex("error: E[0-9]+: mx_init: "));
  }
  ::unlink(path.c_str());
}

// The interface cuts the text for a handler at 255 characters.
TEST(error_handler, long_sentences_are_logged_whole) {
  const std::string name = "/nonexistent/" + std::string(300, 'x');
  Environment environment;
  environment.set("OMX_CONFIG", name);
  const auto [printed, status] = outcome([] { mx_init(); });
  EXPECT_EQ(status, kDied);
  EXPECT_THAT(printed, HasSubstr(name.substr(0, 190)));
  EXPECT_THAT(printed, HasSubstr("...: No such file or directory; correct OMX_CONFIG or its permissions"));
}

TEST(error_handler, set_returns_the_previous_one) {
  EXPECT_EQ(mx_set_error_handler(MX_ERRORS_RETURN), MX_ERRORS_ARE_FATAL);
  EXPECT_EQ(mx_set_error_handler(recording_handler), MX_ERRORS_RETURN);
  EXPECT_EQ(mx_set_error_handler(nullptr), recording_handler);
  EXPECT_EQ(mx_set_error_handler(nullptr), MX_ERRORS_ARE_FATAL);
}

TEST(error_handler, gets_a_sentence_and_the_code) {
  g_handled.clear();
  mx_set_error_handler(recording_handler);
  uint64_t nic;
  EXPECT_EQ(mx_board_number_to_nic_id(0, &nic), MX_NOT_INITIALIZED);
  ASSERT_EQ(g_handled.size(), 1U);
  EXPECT_EQ(g_handled[0].code, MX_NOT_INITIALIZED);
  EXPECT_EQ(g_handled[0].text, "mx_board_number_to_nic_id: not initialized");
  mx_set_error_handler(nullptr);
}

TEST(error_handler, its_answer_is_what_the_call_returns) {
  mx_set_error_handler([](char* text, mx_return_t) {
    text[0] = '!';  // the handler may write to the text
    return MX_NO_MATCH;
  });
  uint64_t nic;
  EXPECT_EQ(mx_board_number_to_nic_id(0, &nic), MX_NO_MATCH);
  mx_set_error_handler([](char*, mx_return_t) { return MX_SUCCESS; });
  EXPECT_EQ(mx_board_number_to_nic_id(0, &nic), MX_SUCCESS);
  mx_set_error_handler(nullptr);
}

TEST(error_handler, both_interfaces_share_that_of_the_process) {
  static int calls;
  calls = 0;
  EXPECT_EQ(omx_set_error_handler(nullptr,
                                  [](char*, omx_return_t code) {
                                    calls++;
                                    return code;
                                  }),
            OMX_ERRORS_ARE_FATAL);
  uint64_t nic;
  EXPECT_EQ(mx_board_number_to_nic_id(0, &nic), MX_NOT_INITIALIZED);
  EXPECT_EQ(omx_board_number_to_nic_id(0, &nic), OMX_NOT_INITIALIZED);
  EXPECT_EQ(calls, 2);
  omx_set_error_handler(nullptr, OMX_ERRORS_RETURN);
  EXPECT_EQ(mx_set_error_handler(MX_ERRORS_ARE_FATAL), MX_ERRORS_RETURN);
  EXPECT_EQ(omx_set_error_handler(nullptr, nullptr), OMX_ERRORS_ARE_FATAL);
}

class ErrorHandler : public Pair {};

TEST_F(ErrorHandler, of_an_endpoint_comes_before_that_of_the_process) {
  static std::vector<mx_return_t> codes;
  codes.clear();
  mx_param_t param{};
  param.key = MX_PARAM_ERROR_HANDLER;
  param.val.error_handler = [](char*, mx_return_t code) {
    codes.push_back(code);
    return MX_FAILURE;
  };
  const mx_endpoint_t own = open(0, MX_ANY_ENDPOINT, {param});
  g_handled.clear();
  EXPECT_EQ(mx_irecv(own, nullptr, 0, 1, 0, nullptr, nullptr), MX_FAILURE);
  EXPECT_EQ(codes, std::vector<mx_return_t>{MX_BAD_MATCH_MASK});
  EXPECT_TRUE(g_handled.empty());
  EXPECT_EQ(mx_irecv(a_, nullptr, 0, 1, 0, nullptr, nullptr), MX_BAD_MATCH_MASK);
  EXPECT_EQ(g_handled.size(), 1U);
}

TEST_F(ErrorHandler, of_an_endpoint_ends_with_it) {
  mx_param_t param{};
  param.key = MX_PARAM_ERROR_HANDLER;
  param.val.error_handler = [](char*, mx_return_t) { return MX_FAILURE; };
  EXPECT_EQ(mx_close_endpoint(open(0, 7, {param})), MX_SUCCESS);
  const mx_endpoint_t own = open(0, 7);
  EXPECT_EQ(mx_irecv(own, nullptr, 0, 1, 0, nullptr, nullptr), MX_BAD_MATCH_MASK);
}

TEST_F(ErrorHandler, sees_failed_completions_with_native_codes) {
  Bytes small(10);
  const mx_request_t receive = post(b_, small, 5);
  const Bytes data = pattern(100);
  const mx_request_t sent = send(a_, to_b_, data, 5);
  g_handled.clear();
  const mx_status_t status = finish(b_, receive);
  EXPECT_EQ(status.code, MX_STATUS_TRUNCATED);
  ASSERT_EQ(g_handled.size(), 1U);
  EXPECT_EQ(static_cast<int>(g_handled[0].code), 95);  // docs/spec/mx-api.md 5
  EXPECT_THAT(g_handled[0].text, HasSubstr("10 of 100 bytes"));
  finish(a_, sent);
}

TEST_F(ErrorHandler, may_replace_the_status_of_a_completion) {
  Bytes small(1);
  mx_set_error_handler([](char*, mx_return_t) { return MX_SUCCESS; });
  mx_request_t receive = post(b_, small, 5);
  send_forgotten(a_, to_b_, pattern(2), 5);
  EXPECT_EQ(finish(b_, receive).code, MX_STATUS_SUCCESS);
  // A code that no status has leaves the status as it was.
  mx_set_error_handler([](char*, mx_return_t) { return MX_BAD_ROOT; });
  receive = post(b_, small, 5);
  send_forgotten(a_, to_b_, pattern(2), 5);
  EXPECT_EQ(finish(b_, receive).code, MX_STATUS_TRUNCATED);
}

TEST_F(ErrorHandler, initial_one_ends_the_process_for_a_truncated_receive) {
  mx_finalize();
  const auto [text, status] = outcome([&] {
    mx_set_error_handler(nullptr);
    mx_init();
    a_ = open(0);
    const mx_endpoint_addr_t self = address(a_);
    Bytes small(10);
    mx_request_t receive = post(a_, small, 0);
    send_forgotten(a_, self, pattern(100), 0);
    std::uint32_t result;
    mx_wait(a_, &receive, kLongMs, nullptr, &result);
  });
  EXPECT_EQ(status, kDied) << text;
  EXPECT_THAT(text, HasSubstr("truncated"));
}

}  // namespace
}  // namespace omx::mx_tests
