// SPDX-License-Identifier: BSD-3-Clause
// What omx dump and omx top print of views that are made up.
#include "tools/watch/dump_print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/watch/top_table.h"

namespace omx::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr NicId kPeer = 0x024f4d580002;

class DumpPrint : public ::testing::Test {
 protected:
  DumpPrint() {
    EndpointView view;
    view.endpoint.id = 3;
    view.shared = std::make_unique<runtime::SharedEndpoint>();
    view.taken = 2'000'000'000;
    shared_ = view.shared.get();
    shared_->view.snapshot.at = 1'000'000'000;
    views_.push_back(std::move(view));
    names_.set(kPeer, "h2:0");
  }
  protocol::Snapshot& snapshot() { return shared_->view.snapshot; }
  protocol::Counters& counters() { return shared_->counters.engine; }
  protocol::PeerRow& peer() {
    snapshot().peer_rows = 1;
    snapshot().peer[0].nic = kPeer;
    snapshot().peer[0].endpoint = 1;
    return snapshot().peer[0];
  }
  std::string text() { return dump_text(views_, names_, 0); }
  std::string json() { return dump_json(views_, names_, 0); }
  std::string top() { return top_text(views_, views_, names_, 20); }

 private:
  runtime::SharedEndpoint* shared_ = nullptr;
  std::vector<EndpointView> views_;
  runtime::PeerTable names_;
};

TEST_F(DumpPrint, ecn__on_or_off_and_why) {
  EXPECT_THAT(text(), HasSubstr("\n  ECN: on\n"));
  EXPECT_THAT(json(), HasSubstr("\"ecn\": true"));
  EXPECT_THAT(json(), Not(HasSubstr("ecn_off_reason")));
  EXPECT_THAT(top(), Not(HasSubstr(" off ")));
  snapshot().marks.forgone = true;
  EXPECT_THAT(text(), HasSubstr("\n  ECN: off: OMX_ECN=0\n"));
  EXPECT_THAT(json(), HasSubstr("\"ecn\": false"));
  EXPECT_THAT(json(), HasSubstr("\"ecn_off_reason\": \"OMX_ECN=0\""));
  EXPECT_THAT(top(), HasSubstr(" off "));
  snapshot().marks = {true, true, kPeer, 1};
  EXPECT_THAT(text(), HasSubstr("\n  ECN: off: peer h2:0 endpoint 1 does not heed marks"));
  EXPECT_THAT(json(), HasSubstr("\"ecn_off_reason\": \"peer h2:0 endpoint 1 does not heed marks"));
}

TEST_F(DumpPrint, congested__says_what_is_known_of_the_queue) {
  constexpr const char* kLess = "sending less did not shorten the queue";
  snapshot().pull_rows = 1;
  snapshot().pull[0].round_trip = 1'899'300;
  snapshot().pull[0].window = 97687;
  peer().window = 5000;
  EXPECT_THAT(text(), Not(HasSubstr(kLess)));
  EXPECT_THAT(text(), HasSubstr("congested: at most 5000 bytes of short and medium messages on their way\n"));
  snapshot().pull[0].contended = true;
  EXPECT_THAT(text(),
              HasSubstr("takes 1899.3 us; sending less did not shorten the queue: others may fill it"));
  counters()[protocol::Counter::recv_marked] = 1;
  EXPECT_THAT(text(), HasSubstr("the queue: others fill it, too, or its port marks early\n"));
  snapshot().pull[0].contended = false;
  peer().window_contended = true;
  EXPECT_THAT(text(), HasSubstr("on their way; sending less did not shorten the queue: others may fill it"));
  counters()[protocol::Counter::marks_told] = 1;
  EXPECT_THAT(text(), HasSubstr("the queue: others fill it, too, or its port marks early\n"));
}

TEST_F(DumpPrint, round_trip__only_what_is_known) {
  peer().round_trip = 8'450;
  EXPECT_THAT(text(), HasSubstr("; round trip 8.45 us\n"));
  peer().round_trip_least = 300;
  EXPECT_THAT(text(), HasSubstr("; round trip 8.45 us, at least 0.30\n"));
  peer().round_trip = 281'040;
  EXPECT_THAT(text(), HasSubstr("; round trip 281.0 us"));
  snapshot().pull_rows = 1;
  snapshot().pull[0].round_trip = 12'000;
  EXPECT_THAT(text(), HasSubstr("an answer takes 12.00 us\n"));
}

// An envelope takes memory of its own, but none of OMX_UNEXP_BYTES.
TEST_F(DumpPrint, messages_without_a_receive__say_what_their_bytes_are) {
  snapshot().unexpected = 1;
  peer().unexpected_bytes = 152;
  EXPECT_THAT(text(), HasSubstr("messages without a receive 1 (0 bytes of OMX_UNEXP_BYTES used)"));
  EXPECT_THAT(text(), HasSubstr("; messages without a receive take 152 bytes of memory\n"));
  EXPECT_THAT(top(), HasSubstr("UNEXP B"));
}

}  // namespace
}  // namespace omx::tools
