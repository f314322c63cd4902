// SPDX-License-Identifier: BSD-3-Clause
// Names of the network from a broker that refuses, or goes away.
#include <gmock/gmock.h>

#include <future>
#include <optional>

#include "broker/offers.h"
#include "netdev/open_failure.h"
#include "runtime/board/peers_discovery.h"
#include "tests/broker/fake_broker.h"

namespace omx::broker {

namespace {

using testing::HasSubstr;

class NamesAskedTest : public testing::Test {
 protected:
  void SetUp() override {
    auto names = NamesAsked::open(broker_.path(), "v0");
    ASSERT_TRUE(names) << names.error().message;
    names_.emplace(std::move(*names));
    client_ = broker_.accept();
    names_->ask(1);
    ASSERT_TRUE(client_.request_comes(Kind::ask));
  }

  FakeBroker broker_;
  FakeClient client_;
  std::optional<NamesAsked> names_;
};

TEST_F(NamesAskedTest, a_refusal_is_reported_and_later_names_come) {
  client_.refuse(Kind::ask, link::kNoPermission, "user 60001 may have no raw frames");
  EXPECT_TRUE(names_->receive().empty());
  ASSERT_TRUE(names_->failure());
  EXPECT_EQ(names_->failure()->message, "user 60001 may have no raw frames");
  EXPECT_FALSE(names_->ended());
  Answer name;
  name.nic = 7;
  text_store(name.text, "host:0");
  client_.answer(Kind::name, name);
  const auto names = names_->receive();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].name, "host:0");
}

TEST_F(NamesAskedTest, a_broker_that_is_gone_wakes_nobody) {
  Answer name;
  text_store(name.text, "host:0");
  client_.answer(Kind::name, name);
  client_.close();
  EXPECT_EQ(names_->receive().size(), 1U) << "the last name counts";
  EXPECT_TRUE(names_->ended());
  ASSERT_TRUE(names_->failure());
  EXPECT_THAT(names_->failure()->message, HasSubstr("ended the connection"));
  EXPECT_EQ(names_->descriptor(), -1);
}

// Without the end of the broker this waits for an hour.
TEST(PeersDiscoverTest, ends_with_the_broker) {
  FakeBroker broker;
  runtime::Board board;
  board.interface.name = "v0";
  board.broker = broker.path();
  runtime::Settings settings;
  settings.discovery_ms = 3'600'000;
  runtime::PeerTable peers;
  auto found = std::async(std::launch::async, [&] {
    return runtime::peers_discover({board}, settings, peers, {kBroadcastNic, [] { return false; }, {}});
  });
  FakeClient client = broker.accept();
  EXPECT_TRUE(client.request_comes(Kind::ask));
  client.refuse(Kind::ask, link::kNoDevice, "v0 is gone");
  client.close();
  const auto result = found.get();
  ASSERT_TRUE(result);
  EXPECT_FALSE(*result);
}

}  // namespace

}  // namespace omx::broker
