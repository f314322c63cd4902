// SPDX-License-Identifier: BSD-3-Clause
// Look-ups that ask the network. Two processes' worth of state: "alpha" on v0 and "beta" on v1.
#include <unistd.h>

#include "runtime/board/board_responder.h"
#include "runtime/clock.h"
#include "tests/support/child.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class names : public PairTest {
 protected:
  names() { opens_ = false; }
  void SetUp() override {
    PairTest::SetUp();
    if (!process_) return;
    alpha_ = process_create(settings_of("v0", "alpha"));
    beta_ = process_create(settings_of("v1", "beta"));
  }
  Settings settings_of(const std::string& interface, const std::string& hostname) {
    Settings s = settings();
    s.interfaces = interface;
    s.hostname = hostname;
    s.discovery_ms = 3000;
    return s;
  }
  static NicId nic(const Process& process) { return process.boards()[0].interface.nic; }

  std::unique_ptr<Process> alpha_, beta_;
};

TEST_F(names, nic_of__asks_the_network) {
  Endpoint* endpoint = open(*beta_, "v1");
  Background driver([&] { endpoint->progress(); });
  const auto found = alpha_->nic_of("beta:0");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, nic(*beta_));
  EXPECT_EQ(alpha_->nic_of("beta").value(), nic(*beta_));     // in the table now
  EXPECT_EQ(alpha_->name_of(nic(*beta_)).value(), "beta:0");  // the inverse look-up
  EXPECT_TRUE(beta_->peers().find(nic(*alpha_)));             // beta received the question
}

TEST_F(names, name_of__asks_the_nic) {
  Endpoint* endpoint = open(*beta_, "v1");
  Background driver([&] { endpoint->progress(); });
  const auto name = alpha_->name_of(nic(*beta_));
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(*name, "beta:0");
}

// Either no endpoint is open yet, or only the look-ups make calls.
TEST_F(names, two_that_look_each_other_up) {
  for (const bool with_endpoints : {false, true}) {
    alpha_ = process_create(settings_of("v0", "alpha"));
    beta_ = process_create(settings_of("v1", "beta"));
    if (with_endpoints) {
      open(*alpha_, "v0");
      open(*beta_, "v1");
    }
    Result<NicId> of_alpha = NicId{0};
    std::thread other([&] { of_alpha = beta_->nic_of("alpha:0"); });
    const auto of_beta = alpha_->nic_of("beta:0");
    other.join();
    EXPECT_TRUE(of_beta) << of_beta.error().message;
    EXPECT_TRUE(of_alpha) << of_alpha.error().message;
  }
}

TEST_F(names, unknown__says_how_long_it_asked) {
  Settings s = settings_of("v0", "alpha");
  s.discovery_ms = 100;
  alpha_ = process_create(s);
  const TimeNs start = clock_now();
  const auto found = alpha_->nic_of("nobody:0");
  EXPECT_GE(clock_now() - start, 100 * protocol::kMillisecond);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().mx_code, 28);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("nobody:0"), HasSubstr("100 ms"), HasSubstr("OMX_PEERS")));
  EXPECT_EQ(alpha_->name_of(0x02deadbeef01).error().mx_code, 28);
  EXPECT_FALSE(alpha_->nic_of(""));
}

TEST_F(names, not_asked) {
  Settings s = settings_of("v0", "alpha");
  s.discovery_ms = 0;
  alpha_ = process_create(s);
  EXPECT_THAT(alpha_->nic_of("beta:0").error().message, HasSubstr("OMX_DISCOVERY_MS=0"));
}

TEST_F(names, without_permission) {
  ASSERT_EQ(::seteuid(65534), 0);
  const auto found = alpha_->nic_of("beta:0");
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("CAP_NET_RAW"));
}

TEST_F(names, local__need_no_network) {
  EXPECT_EQ(alpha_->nic_of("alpha:0").value(), nic(*alpha_));
  EXPECT_EQ(alpha_->nic_of("alpha").value(), nic(*alpha_));
  EXPECT_EQ(alpha_->nic_of("localhost").value(), nic(*alpha_));
  EXPECT_EQ(alpha_->nic_of("localhost:0").value(), nic(*alpha_));
  EXPECT_EQ(alpha_->nic_of("02:00:00:00:00:09").value(), 0x020000000009U);
  EXPECT_EQ(alpha_->name_of(nic(*alpha_)).value(), "alpha:0");
}

// A legacy host announces its NIC and answers only questions to its own address.
TEST_F(names, reference_host__announced_then_asked) {
  Endpoint* listener = open(*alpha_, "v0");
  auto host = link::packet_link_open({.interface = "v1"});
  ASSERT_TRUE(host);
  const Board board = beta_->boards()[0];
  struct Reference : link::FrameHandler {
    Reference(const Board& b, link::Transport& l) : responder(b, 32, peers, l), nic(b.interface.nic) {}
    void on_frame(wire::Frame frame) override {
      wire::Head head;
      if (wire::decode_head(frame, head) == wire::Drop::none && head.dst == nic) responder.on_frame(frame);
    }
    PeerTable peers;
    BoardResponder responder;
    NicId nic;
  } reference(board, **host);
  reference.responder.announce(1);
  (*host)->flush();
  ASSERT_TRUE(becomes_true([&] {
    listener->progress();
    return alpha_->peers().find(nic(*beta_)).has_value();
  }));
  Background answers([&] {
    (*host)->receive(reference, 16);
    (*host)->flush();
  });
  const auto found = alpha_->nic_of("beta:0");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, nic(*beta_));
}

// One process of a board answers. When it is killed, another does.
TEST_F(names, responder__next_process_takes_over) {
  Endpoint* second = open(*beta_, "v1", 5);
  {
    Child child([&] {
      static std::unique_ptr<Process> process = process_create(settings_of("v1", "beta"));
      static Endpoint* endpoint = process ? open(*process, "v1", 4) : nullptr;
      if (!endpoint) return false;
      static Background driver([] { endpoint->progress(); });
      return true;
    });
    ASSERT_TRUE(child.ok());
    EXPECT_EQ(alpha_->nic_of("beta:0").value(), nic(*beta_));  // only the child makes calls
    second->progress();  // this endpoint saw the question too, and found the claim taken
  }
  alpha_ = process_create(settings_of("v0", "alpha"));
  Background driver([&] { second->progress(); });
  EXPECT_EQ(alpha_->nic_of("beta:0").value(), nic(*beta_));
}

}  // namespace
}  // namespace omx::runtime
