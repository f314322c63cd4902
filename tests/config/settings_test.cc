// SPDX-License-Identifier: BSD-3-Clause
#include "config/settings.h"
#include "config/settings_environment.h"
#include "config/settings_load.h"
#include "config/settings_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/affinity.h"
#include "base/log.h"
#include "config/settings_table.h"
#include "tests/support/emulated.h"

namespace omx::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

// A configuration file that lives as long as the test.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text) {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/omx-settings-XXXXXX";
};

Result<Settings> load(const std::string& file, const Variables& variables = {}) {
  const ConfigFile config(file);
  auto settings = settings_load(
      [&](const char* name) -> const char* {
        const auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      config.path());
  if (!settings) {
    // The path differs each time.
    std::string& text = settings.error().message;
    const auto at = text.find(config.path());
    if (at != std::string::npos) text.replace(at, config.path().size(), "FILE");
  }
  return settings;
}

std::string error_of(const Result<Settings>& settings) {
  EXPECT_FALSE(settings.has_value());
  return settings ? "" : settings.error().message;
}

TEST(settings_load, defaults) {
  const auto s = load("");
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->protocol.reliability.peer_timeout, 300'000 * protocol::kMillisecond);
  EXPECT_EQ(s->protocol.reliability.connect_timeout, 30'000 * protocol::kMillisecond);
  EXPECT_EQ(s->protocol.mode, wire::Mode::omx);
  EXPECT_EQ(s->protocol.rndv_threshold, 32768U);
  EXPECT_EQ(s->protocol.max_endpoints, 256U);
  EXPECT_TRUE(s->errors_are_fatal);
  EXPECT_EQ(s->any_endpoint, -1);
  EXPECT_EQ(s->waiting.spin_us, 100U);
  EXPECT_EQ(s->verbose_prefix, "OMX: ");
}

TEST(settings_load, file__comments_quotes_and_blanks) {
  const auto s = load(
      "# all of it\n"
      "\n"
      "  wire_mode = mxoe   # sizes of native MX\n"
      "verbose_prefix = \"# %H \"\n"
      "interfaces=eth0,eth1\r\n"
      "unexp_bytes = 64M");
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->protocol.mode, wire::Mode::mxoe);
  EXPECT_EQ(s->verbose_prefix, "# %H ");
  EXPECT_EQ(s->interfaces, "eth0,eth1");
  EXPECT_EQ(s->protocol.buffer_bytes, 64ULL << 20);
}

TEST(settings_load, file__no_equals_sign) {
  EXPECT_EQ(error_of(load("# one\nwire_mode mxoe\n")),
            "FILE:2: no '=' in \"wire_mode mxoe\"; write \"key = value\"");
}

TEST(settings_load, file__unknown_key) {
  EXPECT_THAT(error_of(load("colour = red\n")),
              AllOf(HasSubstr("FILE:1: unknown key \"colour\""), HasSubstr("omx info --settings")));
}

TEST(settings_load, file__name_of_the_variable_as_key) {
  EXPECT_EQ(error_of(load("OMX_SPIN_US = 3\n")), "FILE:1: unknown key \"OMX_SPIN_US\"; write \"spin_us\"");
  EXPECT_EQ(error_of(load("spinus = 3\n")), "FILE:1: unknown key \"spinus\"; did you mean \"spin_us\"?");
  EXPECT_EQ(error_of(load("OMX_LNIK = udp\n")), "FILE:1: unknown key \"OMX_LNIK\"; did you mean \"link\"?");
}

TEST(settings_load, file__key_twice) {
  EXPECT_THAT(error_of(load("spin_us = 3\n\nspin_us = 4\n")),
              AllOf(HasSubstr("FILE:3:"), HasSubstr("line 1")));
}

TEST(settings_load, errors__show_no_control_characters) {
  const std::string noise = "\x1B[2J" + std::string(1000, 'x');
  EXPECT_THAT(error_of(load("spin_us = " + noise + "\n")), HasSubstr("= \"?[2Jxxx"));
  EXPECT_LT(error_of(load(noise + " = 1\n")).size(), 300U);
  EXPECT_THAT(error_of(load("", {{"OMX_SPIN_US", "1\n2"}})), HasSubstr("\"1?2\""));
}

TEST(settings_load, file__bad_value_says_what_is_accepted) {
  EXPECT_EQ(error_of(load("spin_us = soon\n")),
            "FILE:1: spin_us = \"soon\" is not accepted; give a whole number from 0 to 10000000");
}

TEST(settings_load, file__that_was_named_but_is_not_there) {
  const auto s = settings_load([](const char* name) -> const char* {
    return std::string_view(name) == "OMX_CONFIG" ? "/nonexistent/omx.conf" : nullptr;
  });
  EXPECT_THAT(error_of(s),
              AllOf(HasSubstr("/nonexistent/omx.conf"), HasSubstr("No such file"), HasSubstr("OMX_CONFIG")));
  EXPECT_EQ(s.error().mx_code, 2);
}

// A named pipe would block, and a device might do worse.
TEST(settings_load, file__that_is_not_a_regular_one) {
  const std::string pipe = "/tmp/omx-settings-pipe-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero"), std::string("/tmp")}) {
    EXPECT_EQ(error_of(settings_load([](const char*) -> const char* { return nullptr; }, path)),
              "cannot read the configuration file " + path +
                  ": it is not a regular file; correct OMX_CONFIG or its permissions");
  }
  ::unlink(pipe.c_str());
}

TEST(settings_load, environment__wins_over_the_file_and_over_mx_names) {
  const auto s = load("spin_us = 1\nnotacked_max = 2\nzombie_send = 7\n",
                      {{"OMX_SPIN_US", "5"}, {"OMX_NOTACKED_MAX", "3"}, {"MX_IMM_ACK", "9"}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->waiting.spin_us, 5U);
  EXPECT_EQ(s->protocol.reliability.notacked_max, 3U);
  EXPECT_EQ(s->protocol.buffered_sends_max, 7U);
}

TEST(settings_load, environment__mx_names) {
  const auto s = load("", {{"MX_VERBOSE", "1"},
                           {"MX_ZOMBIE", "0"},
                           {"MX_IMM_ACK", "9"},
                           {"MX_ERRORS_ARE_FATAL", "0"},
                           {"MX_DISABLE_SHARED", "1"},
                           {"MX_DISABLE_SELF", "1"},
                           {"MX_MAX_RETRIES", "20"}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->verbose, 1);
  EXPECT_EQ(s->protocol.buffered_sends_max, 0U);
  EXPECT_EQ(s->protocol.reliability.notacked_max, 9U);
  EXPECT_FALSE(s->errors_are_fatal);
  EXPECT_TRUE(s->disable_shared);
  EXPECT_TRUE(s->disable_self);
  EXPECT_EQ(s->protocol.reliability.peer_timeout, 10'000 * protocol::kMillisecond);
}

TEST(settings_load, environment__first_mx_name_wins) {
  const auto s = load("", {{"MX_ZOMBIE_SEND", "3"}, {"MX_ZOMBIE", "4"}});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->protocol.buffered_sends_max, 3U);
}

TEST(settings_load, environment__mx_names_ignored) {
  for (const bool in_file : {true, false}) {
    Variables variables = {{"MX_VERBOSE", "loud"}};
    if (!in_file) variables["OMX_IGNORE_MX_ENV"] = "1";
    const auto s = load(in_file ? "ignore_mx_env = yes" : "", variables);
    ASSERT_TRUE(s) << s.error().message;
    EXPECT_EQ(s->verbose, 0);
  }
}

TEST(settings_load, former_names__mean_the_same) {
  const auto file = load("udp_lane = 0\nlane_rndv_threshold = 16K\npack = 0\n", {});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(file->udp_bulk);
  EXPECT_EQ(file->protocol.bulk_rndv_threshold, 16384U);
  EXPECT_FALSE(file->protocol.coalesce);

  // Former names are ours, so the switch for names of MX does not concern them.
  const auto s = load("unscheduled_bytes = 1000",
                      {{"OMX_IGNORE_MX_ENV", "1"}, {"OMX_UNASKED_BYTES", "2000"}, {"OMX_OWN_HOOKS", "7"}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->protocol.unscheduled_bytes, 2000U);
  EXPECT_EQ(s->own_sockets, 7U);
}

TEST(settings_load, former_names__the_new_one_wins) {
  const auto s = load("", {{"OMX_UDP_LANE", "0"}, {"OMX_UDP_BULK", "1"}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_TRUE(s->udp_bulk);
}

TEST(settings_load, former_names__mistakes_are_told) {
  EXPECT_EQ(error_of(load("", {{"OMX_PACK", "maybe"}})),
            "OMX_PACK=\"maybe\" in the environment is not accepted; give 0 or 1, or unset it");
  EXPECT_NE(error_of(load("udp_lane = 1\nudp_bulk = 0\n", {})).find("was set in line 1 already"),
            std::string::npos);
  const char* environment[] = {"OMX_UDP_LANE=1", "OMX_SHARED_RNDV_THRESHOLD=4096", nullptr};
  EXPECT_TRUE(settings_unknown(environment).empty());
}

// Other software owns those names, so they must not keep a program from starting.
TEST(settings_load, environment__empty_mx_name_is_unset) {
  const auto s =
      load("disable_shared = 1", {{"MX_DISABLE_SHMEM", ""}, {"MX_ZOMBIE_SEND", ""}, {"MX_ZOMBIE", "4"}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_TRUE(s->disable_shared);
  EXPECT_EQ(s->protocol.buffered_sends_max, 4U);
  EXPECT_TRUE(s->warnings.empty());
}

TEST(settings_load, environment__malformed_mx_name_is_a_warning) {
  const auto s = load("", {{"MX_ZOMBIE", "-1"}, {"MX_DISABLE_SHMEM", "maybe"}, {"MX_DISABLE_SHARED", "1"}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->protocol.buffered_sends_max, Settings().protocol.buffered_sends_max);
  EXPECT_TRUE(s->disable_shared);
  EXPECT_THAT(s->warnings,
              testing::UnorderedElementsAre(
                  "MX_ZOMBIE=\"-1\" in the environment has no effect; give a whole number from 0 to 1000000",
                  "MX_DISABLE_SHMEM=\"maybe\" in the environment has no effect; give 0 or 1"));
}

TEST(settings_unknown, named_once_each) {
  const char* environment[] = {
      "PATH=/bin",          "OMX_SPINUS=3", "OMX_SPIN_US=3",       "OMX_CONFIG=/x",   "OMX_IFACES=eth0",
      "OMX_TEST_SEED=1",    "OMX_LAB_X=1",  "OMX_SANITIZE=thread", "OMXFOO=1",        "MX_SOMETHING=1",
      "OMX_DEBUG_SIGNAL=1", "OMX_SPINUS",   "LAB_NAME=x",          "OMX_CHECKSUMS=1", nullptr};
  EXPECT_THAT(settings_unknown(environment),
              testing::ElementsAre("OMX_SPINUS is not a setting; did you mean OMX_SPIN_US?",
                                   "OMX_CHECKSUMS is not a setting; did you mean OMX_CHECKSUM?"));
  const char* far[] = {"OMX_COLOUR=blue", nullptr};
  EXPECT_THAT(settings_unknown(far),
              testing::ElementsAre("OMX_COLOUR is not a setting; omx info --settings lists them"));
}

TEST(settings_load, environment__malformed_names_the_variable) {
  EXPECT_EQ(error_of(load("", {{"OMX_REPORT", "2"}})),
            "OMX_REPORT=\"2\" in the environment is not accepted; give 0, 1, or json, or unset it");
  EXPECT_EQ(error_of(load("", {{"OMX_CHECKSUM", "maybe"}})),
            "OMX_CHECKSUM=\"maybe\" in the environment is not accepted; give 0 or 1, or unset it");
  EXPECT_EQ(error_of(load("", {{"OMX_CHECKSUM", std::string(300, 'y')}})),
            "OMX_CHECKSUM=\"" + std::string(60, 'y') +
                "...\" in the environment is not accepted; give 0 or 1, or unset it");
}

// Each kind refuses values beyond its range and accepts values in it.
TEST(settings_load, values) {
  const std::vector<std::array<std::string, 3>> good = {
      {"OMX_WIRE_MODE", "mxoe", "mxoe"},      {"OMX_CTXIDS", "4,60", "4,60"},
      {"OMX_REPORT", "json", "json"},         {"OMX_REPORT", "1", "1"},
      {"OMX_ANY_ENDPOINT", "255", "255"},     {"OMX_ANY_ENDPOINT", "any", "any"},
      {"OMX_RNDV_THRESHOLD", "8k", "8192"},   {"OMX_UNEXP_BYTES", "1G", "1073741824"},
      {"OMX_PEER_TIMEOUT_MS", "0", "0"},      {"OMX_PEER_TIMEOUT_MS", "250", "250"},
      {"OMX_RESENDS_MAX", "1000", "1000"},    {"OMX_RESENDS_MAX", "0", "0"},
      {"OMX_MEDIUM_SENDQ", "0", "0"},         {"OMX_HOSTNAME", "node7", "node7"},
      {"OMX_VERBOSE_PREFIX", "%p%%", "%p%%"}, {"OMX_EXTENSION", "off", "0"},
      {"OMX_ACK_DELAY_US", "7", "7"},         {"OMX_INTERFACES", "", ""},
      {"OMX_ENDPOINTS_MAX", "256", "256"},    {"OMX_WAITSPIN", "true", "1"},
      {"OMX_LOG_FILE", "a%h%p%%", "a%h%p%%"}, {"OMX_LOG_FILE", "", ""},
      {"OMX_PULL_QUIET", "0", "0"},           {"OMX_ZEROCOPY", "1", "1"},
      {"OMX_ZEROCOPY", "auto", "auto"},
  };
  for (const auto& [variable, text, printed] : good) {
    const auto s = load("", {{variable, text}});
    ASSERT_TRUE(s) << variable << ": " << s.error().message;
    for (const SettingRow& row : settings_rows(*s)) {
      if (row.variable == variable) {
        EXPECT_EQ(row.value, printed) << variable;
      }
    }
  }
  const std::vector<std::array<std::string, 2>> bad = {
      {"OMX_WIRE_MODE", "OMX"},
      {"OMX_CTXIDS", "4"},
      {"OMX_CTXIDS", "17,0"},
      {"OMX_CTXIDS", "16,49"},
      {"OMX_CTXIDS", "1,x"},
      {"OMX_ANY_ENDPOINT", "256"},
      {"OMX_ANY_ENDPOINT", "-1"},
      {"OMX_RNDV_THRESHOLD", "127"},
      {"OMX_RNDV_THRESHOLD", "8q"},
      {"OMX_UNEXP_BYTES", "k"},
      {"OMX_UNEXP_BYTES", "99999999999999G"},
      {"OMX_PEER_TIMEOUT_MS", "1s"},
      {"OMX_RESENDS_MAX", "many"},
      {"OMX_MEDIUM_SENDQ", "2"},
      {"OMX_HOSTNAME", "a:b"},
      {"OMX_HOSTNAME", "a b"},
      {"OMX_VERBOSE_PREFIX", "%x"},
      {"OMX_LOG_FILE", "/tmp/%x"},
      {"OMX_LOG_FILE", "/tmp/%"},
      {"OMX_EXTENSION", ""},
      {"OMX_SPIN_US", " 3"},
      {"OMX_ENDPOINTS_MAX", "257"},
      {"OMX_SPIN_US", "99999999999999999999"},
  };
  for (const auto& [variable, text] : bad) {
    EXPECT_THAT(error_of(load("", {{variable, text}})), HasSubstr(fmt::format("{}=\"{}\"", variable, text)));
  }
}

TEST(settings_load, peer_timeout__wins_over_resends) {
  const auto s = load("", {{"OMX_PEER_TIMEOUT_MS", "300"}, {"OMX_RESENDS_MAX", "1000"}});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->protocol.reliability.peer_timeout, 300 * protocol::kMillisecond);
}

TEST(settings_rows, resends__a_short_timeout_is_not_shown_as_none) {
  const auto s = load("peer_timeout_ms = 5");
  for (const SettingRow& row : settings_rows(*s))
    if (std::string_view(row.variable) == "OMX_RESENDS_MAX") {
      EXPECT_EQ(row.value, "1");
    }
}

TEST(settings_rows, origin__who_set_it_last) {
  const auto s = load("# mine\nspin_us = 5\nverbose = 1\npeer_timeout_ms = 5000\n",
                      {{"OMX_VERBOSE", "0"}, {"MX_IMM_ACK", "3"}});
  ASSERT_TRUE(s);
  std::map<std::string, SettingRow> rows;
  for (const SettingRow& row : settings_rows(*s)) rows[row.variable] = row;
  EXPECT_THAT(rows["OMX_SPIN_US"].origin, testing::EndsWith(":2"));
  EXPECT_EQ(rows["OMX_SPIN_US"].key, "spin_us");
  EXPECT_EQ(rows["OMX_VERBOSE"].origin, "environment");
  EXPECT_EQ(rows["OMX_NOTACKED_MAX"].origin, "MX_IMM_ACK in the environment");
  EXPECT_EQ(rows["OMX_RESENDS_MAX"].origin, "another setting");  // the same time in other words
  EXPECT_EQ(rows["OMX_WAITSPIN"].origin, "default");
  EXPECT_EQ(rows["OMX_CONFIG"].origin, "default");
  EXPECT_EQ(rows["OMX_CONFIG"].key, "");
  EXPECT_THAT(rows["OMX_WIRE_MODE"].accepted, AllOf(HasSubstr("omx"), HasSubstr("mxoe")));
  EXPECT_THAT(rows["OMX_KEEPALIVE_MS"].accepted, HasSubstr("milliseconds"));
}

TEST(settings_load, progress_cpus__only_those_of_this_host) {
  const int cpus = processor_numbers();
  EXPECT_TRUE(load("", {{"OMX_PROGRESS_CPUS", fmt::format("0-{}", cpus - 1)}}));
  for (const std::string& text : {std::to_string(cpus), std::string("9999"), std::string("0,99")}) {
    EXPECT_THAT(error_of(load("", {{"OMX_PROGRESS_CPUS", text}})),
                HasSubstr(fmt::format("which this host has 0 to {}", cpus - 1)));
  }
}

TEST(settings_load, resends__infinite) {
  const auto s = load("resends_max = 0");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->protocol.reliability.peer_timeout, protocol::kNever);
}

TEST(settings_load, endpoints_max__reaches_the_engine) {
  const auto s = load("endpoints_max = 32");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->protocol.max_endpoints, 32U);
}

// Printed values can be read again and mean the same: the table's rows agree with themselves.
TEST(settings_rows, every_value_is_accepted_in_a_file) {
  const auto s = load("");
  ASSERT_TRUE(s);
  const auto rows = settings_rows(*s);
  ASSERT_EQ(rows.size(), tunables().size());
  for (std::size_t i = 0; i < rows.size(); i++) {
    Settings again;
    EXPECT_TRUE(tunables()[i].parse(rows[i].value, again)) << rows[i].variable;
    EXPECT_EQ(tunables()[i].print(again), rows[i].value) << rows[i].variable;
    EXPECT_NE(std::string(rows[i].help), "");
    EXPECT_TRUE(std::string_view(rows[i].variable).starts_with("OMX_"));
    EXPECT_NE(tunables()[i].accepted(), "");
  }
}

// A copy of this program that any user may start with root's privileges.
class Privileged {
 public:
  Privileged() {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    std::filesystem::copy("/proc/self/exe", program());
    EXPECT_EQ(::chmod(folder_.c_str(), 0755), 0);
    EXPECT_EQ(::chmod(program().c_str(), 04755), 0);
  }
  ~Privileged() { std::filesystem::remove_all(folder_); }
  std::string program() const { return folder_ + "/program"; }
  std::string log() const { return folder_ + "/log"; }
  // Runs that test in the copy as an ordinary user. Returns its exit status.
  int run(const std::string& test) const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("OMX_LOG_FILE", log().c_str(), 1);
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(78);
      ::execl(program().c_str(), "program", "--gtest_also_run_disabled_tests",
              ("--gtest_filter=" + test).c_str(), nullptr);
      ::_exit(79);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string folder_ = "/tmp/omx-privileged-XXXXXX";
};

constexpr int kNotPrivileged = 77, kFileIgnored = 42;

TEST(settings_privileged, log_file__is_not_for_the_caller_to_choose) {
  OMX_SKIP_EMULATED("runs no copy of its program");
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to make a setuid program";
  const Privileged privileged;
  const int status = privileged.run("settings_privileged.DISABLED_child");
  if (status == kNotPrivileged) GTEST_SKIP() << "/tmp is mounted without setuid programs";
  EXPECT_EQ(status, kFileIgnored);
  EXPECT_FALSE(std::filesystem::exists(privileged.log()));
}

// Runs in the setuid copy of this program, for the test above.
TEST(settings_privileged, DISABLED_child) {
  if (!::getauxval(AT_SECURE)) ::_exit(kNotPrivileged);
  testing::internal::CaptureStderr();
  const auto settings = settings_load();
  log(LogLevel::warn, "something");
  const std::string said = testing::internal::GetCapturedStderr();
  const bool told = said.find("OMX_LOG_FILE has no effect in a program with privileges") != std::string::npos;
  ::_exit(settings && settings->log_file.empty() && told ? kFileIgnored : 1);
}

}  // namespace
}  // namespace omx::runtime
