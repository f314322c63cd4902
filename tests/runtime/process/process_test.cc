// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/log.h"
#include "tests/support/allocation_failure.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Tests that begin without an open endpoint.
class process : public PairTest {
 protected:
  process() { opens_ = false; }
  Failure failure_of(const OpenOptions& options) {
    const auto endpoint = process_->open(options);
    EXPECT_FALSE(endpoint.has_value());
    return endpoint ? Failure{0, ""} : endpoint.error();
  }
};

TEST_F(process, boards__in_the_order_named_with_names) {
  const auto& boards = process_->boards();
  ASSERT_EQ(boards.size(), 2U);
  EXPECT_EQ(boards[0].interface.name, "v0");
  EXPECT_EQ(boards[1].interface.name, "v1");
  EXPECT_EQ(boards[0].hostname, "host:0");
  EXPECT_EQ(boards[1].hostname, "host:1");
  EXPECT_EQ(process_->board_of(boards[1].interface.nic), &boards[1]);
  EXPECT_EQ(process_->board_of(1), nullptr);
  EXPECT_TRUE(process_->peers().find("host:1")->local);
}

TEST_F(process, boards__named_order_is_not_that_of_the_kernel) {
  link::ip("link set lo up");
  Settings s = settings();
  s.interfaces = "v1,lo,v0";
  const auto named = process_create(s);
  ASSERT_EQ(named->boards().size(), 3U);
  EXPECT_EQ(named->boards()[0].interface.name, "v1");
  EXPECT_EQ(named->boards()[0].hostname, "host:0");
  EXPECT_EQ(named->boards()[1].interface.name, "lo");
  EXPECT_EQ(named->boards()[2].interface.name, "v0");
}

TEST_F(process, boards__without_carrier_come_last) {
  link::ip("link add w0 type veth peer name w1");
  for (const char* name : {"w0", "w1"}) link::ip(std::string("link set up dev ") + name);
  link::ip("link set down dev v1");  // v0 stays up, without carrier
  Settings s = settings();
  s.interfaces = "";
  std::vector<std::string> names;
  // The kernel reports carriers a little later.
  EXPECT_TRUE(becomes_true([&] {
    const auto unplugged = process_create(s);
    names.clear();
    for (const Board& board : unplugged->boards()) names.push_back(board.interface.name);
    return names.size() == 3 && names.back() == "v0";
  }));
  EXPECT_THAT(names, testing::AllOf(testing::SizeIs(3), testing::Contains("w0"), testing::Contains("w1")));
}

TEST_F(process, boards__loopback_only_when_named) {
  link::ip("link set lo up");
  Settings s = settings();
  s.interfaces = "lo";
  const auto alone = process_create(s);
  ASSERT_EQ(alone->boards().size(), 1U);
  EXPECT_EQ(alone->boards()[0].hostname, "localhost");
  EXPECT_EQ(alone->boards()[0].interface.nic, 0U);
}

TEST_F(process, boards__none) {
  Settings s = settings();
  s.interfaces = "";
  for (const char* name : {"v0", "v1"}) link::ip(std::string("link set down dev ") + name);
  const auto none = Process::create(s);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().mx_code, 5);
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("v0"), HasSubstr("OMX_INTERFACES")));
  for (int i = 0; i < 8; i++) link::ip(fmt::format("link add idle{0} type veth peer name ready{0}", i));
  const auto many = Process::create(s);
  ASSERT_FALSE(many);
  // Error handlers get the beginning of the text, so the remedy comes first, and three interfaces are named
  // as examples.
  EXPECT_LT(many.error().message.find("OMX_INTERFACES"), 120U);
  EXPECT_LT(many.error().message.size(), 240U);
  EXPECT_THAT(many.error().message, HasSubstr("; ..."));
  s.interfaces = "eth77";
  EXPECT_FALSE(Process::create(s));
}

TEST_F(process, boards__long_host_name_is_cut) {
  Settings s = settings();
  s.hostname = std::string(200, 'x');
  const auto cut = process_create(s);
  for (const Board& board : cut->boards()) EXPECT_LT(board.hostname.size(), wire::kHostnameMax);
}

TEST_F(process, open__any_endpoint_spreads_over_the_boards) {
  std::vector<std::pair<std::uint32_t, int>> opened;
  for (int i = 0; i < 4; i++) {
    const auto endpoint = process_->open({});
    ASSERT_TRUE(endpoint) << endpoint.error().message;
    opened.emplace_back((*endpoint)->board().number, (*endpoint)->id());
    EXPECT_NE((*endpoint)->session(), 0xFFFFFFFFU);
  }
  EXPECT_THAT(opened,
              testing::ElementsAre(std::pair(0U, 0), std::pair(1U, 0), std::pair(0U, 1), std::pair(1U, 1)));
}

TEST_F(process, open__any_board_with_an_endpoint) {
  for (const std::uint32_t board : {0U, 1U}) {
    const auto endpoint = process_->open({.board = kAnyBoard, .endpoint = 7});
    ASSERT_TRUE(endpoint);
    EXPECT_EQ((*endpoint)->board().number, board);
    EXPECT_EQ((*endpoint)->id(), 7);
  }
  const Failure failure = failure_of({.board = kAnyBoard, .endpoint = 7});
  EXPECT_EQ(failure.mx_code, 20);
  EXPECT_THAT(failure.message, HasSubstr("endpoint 7 is held by this process"));
}

TEST_F(process, open__refused) {
  EXPECT_EQ(failure_of({.board = 2}).mx_code, 8);
  EXPECT_EQ(failure_of({.board = 0, .endpoint = 32}).mx_code, 9);
  EXPECT_EQ(failure_of({.board = 0, .endpoint = 0, .key = 0, .context_bits = 17}).mx_code, 26);
  EXPECT_EQ(
      failure_of({.board = 0, .endpoint = 0, .key = 0, .context_bits = 16, .context_shift = 49}).mx_code, 26);
}

TEST_F(process, open__all_ids_in_use) {
  Settings s = settings();
  s.endpoints_max = s.protocol.max_endpoints = 3;
  const auto small = process_create(s);
  for (int i = 0; i < 6; i++) ASSERT_TRUE(small->open({}));
  const auto full = small->open({});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().mx_code, 20);
  EXPECT_THAT(full.error().message, HasSubstr("OMX_ENDPOINTS_MAX"));
}

TEST_F(process, open__any_endpoint_replaced_by_the_setting) {
  Settings s = settings();
  s.any_endpoint = 5;
  const auto fixed = process_create(s);
  EXPECT_EQ((*fixed->open({.board = 0}))->id(), 5);
  EXPECT_EQ((*fixed->open({.board = 0, .endpoint = 1}))->id(), 1);
  EXPECT_EQ(fixed->open({.board = 0}).error().mx_code, 20);
}

TEST_F(process, open__without_permission) {
  ASSERT_EQ(::seteuid(65534), 0);
  const auto endpoint = process_->open({});
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(endpoint);
  EXPECT_EQ(endpoint.error().mx_code, 7);
  EXPECT_THAT(endpoint.error().message, AllOf(HasSubstr("board 0"), HasSubstr("CAP_NET_RAW")));
  EXPECT_TRUE(process_->open({}));  // the claims were given back
}

TEST_F(process, open__without_memory_leaves_nothing_behind) {
  for (std::int64_t after = 0;; after++) {
    allocation_fail(after);
    const auto endpoint = process_->open({.board = 0, .endpoint = 3});
    if (!allocation_fail(-1)) {
      ASSERT_TRUE(endpoint) << endpoint.error().message;
      EXPECT_GT(after, 10);
      break;
    }
    if (endpoint) {  // the failed allocation was not essential
      process_->close(*endpoint);
    } else {
      ASSERT_THAT(endpoint.error().mx_code, testing::AnyOf(2, 15)) << endpoint.error().message;
    }
  }
}

TEST_F(process, open__a_board_that_is_gone_is_left_out) {
  Settings s = settings();
  link::ip("link add w0 type veth peer name w1");
  for (const char* name : {"w0", "w1"}) link::ip(std::string("link set up dev ") + name);
  s.interfaces = "v0,v1,w0";
  const auto three = process_create(s);
  ASSERT_EQ(three->boards().size(), 3U);
  link::ip("link del v0");  // v1 goes with it
  const auto endpoint = three->open({});
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  EXPECT_EQ((*endpoint)->board().interface.name, "w0");
}

TEST_F(process, open__several_threads) {
  std::vector<std::thread> threads;
  threads.reserve(16);
  std::mutex mutex;
  std::set<std::pair<std::uint32_t, int>> ids;
  std::set<std::uint32_t> slots;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&] {
      const auto endpoint = process_->open({});
      ASSERT_TRUE(endpoint);
      const std::lock_guard guard(mutex);
      ids.emplace((*endpoint)->board().number, (*endpoint)->id());
      slots.insert((*endpoint)->slot());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids.size(), 8U);
  EXPECT_EQ(slots.size(), 8U);
}

// Returns what is written to stderr while `action` runs.
template <class Action>
std::string stderr_of(Action action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

TEST_F(process, log__mxoe_needs_a_larger_mtu) {
  Settings s = settings();
  s.protocol.mode = wire::Mode::mxoe;
  const auto mxoe = process_create(s);
  EXPECT_THAT(stderr_of([&] { open(*mxoe, "v0"); }),
              AllOf(HasSubstr("MTU 1500"), HasSubstr("4130"), HasSubstr("ip link set")));
  link::ip("link set v1 mtu 9000");
  EXPECT_EQ(stderr_of([&] { open(*mxoe, "v1"); }), "");
}

TEST_F(process, log__agreed_frame_size_once_per_peer) {
  Settings s = settings();
  s.verbose = 2;
  s.verbose_prefix = "%H %B %b %e: ";
  const int before = g_log_level;
  const std::string text = stderr_of([&] {
    process_ = process_create(s);
    a_ = open(*process_, "v0");
    b_ = open(*process_, "v1");
    connect(*a_, *b_);
    for (int i = 0; i < 3; i++) {
      const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(1100);
      drive_until([&] { return std::chrono::steady_clock::now() > limit; });
    }
    process_.reset();
  });
  g_log_level = before;
  log_set_prefix("OMX: ");
  EXPECT_THAT(text, AllOf(HasSubstr("v0 endpoint 0: frames to"),
                          HasSubstr(s.intra_node.enabled ? "16448 bytes agreed"
                                                         : "1514 bytes agreed (ours 1514), 1514 proven")));
  EXPECT_EQ(text.find("v0 endpoint 0: frames"), text.rfind("v0 endpoint 0: frames"));
  EXPECT_TRUE(text.starts_with("host v0 ")) << text;
}

TEST_F(process, peers__from_file_and_variable) {
  const std::string path = "/tmp/omx-peers-" + std::to_string(::getpid());
  std::ofstream(path) << "02:00:00:00:00:01 one:0\n"
                      << mac_format(process_->boards()[0].interface.nic) << " me:0\n";
  Settings s = settings();
  s.peers_file = path;
  s.peers = "02:00:00:00:00:02 two:0, 02:00:00:00:00:03 three:0";
  const auto named = process_create(s);
  ::unlink(path.c_str());
  EXPECT_EQ(named->nic_of("one:0").value(), 0x020000000001U);
  EXPECT_EQ(named->nic_of("three").value(), 0x020000000003U);
  EXPECT_EQ(named->name_of(0x020000000002).value(), "two:0");
  EXPECT_EQ(named->boards()[0].hostname, "me:0");  // other hosts with this table call us so
  EXPECT_EQ(named->boards()[1].hostname, "host:1");
}

TEST_F(process, peers__malformed) {
  Settings s = settings();
  s.peers_file = "/nonexistent/peers";
  auto bad = Process::create(s);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, AllOf(HasSubstr("/nonexistent/peers"), HasSubstr("OMX_PEERS_FILE")));
  s = settings();
  s.peers = "one 02:00:00:00:00:01";
  bad = Process::create(s);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("OMX_PEERS:1:"));
}

}  // namespace
}  // namespace omx::runtime
