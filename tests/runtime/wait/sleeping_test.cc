// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/sleeping.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "base/own_fd.h"
#include "tests/support/quiet_link.h"

namespace omx::runtime {
namespace {

// A descriptor that polls readable from the moment that frames wait.
class Frames {
 public:
  void come() const { ASSERT_EQ(eventfd_write(event_.get(), 1), 0); }
  void read() const {
    eventfd_t came = 0;
    ASSERT_EQ(eventfd_read(event_.get(), &came), 0);
  }
  int descriptor() const { return event_.get(); }

 private:
  OwnFd event_{eventfd(0, EFD_NONBLOCK)};
};

class BulkFrames final : public link::UdpBulkPath, public Frames {
 public:
  link::BulkInfo info() const override { return {}; }
  std::size_t receive(link::BulkHandler&, std::size_t) override { return 0; }
  int descriptor() const override { return Frames::descriptor(); }
};

// Each frame of the link wakes, and large messages come by the UDP bulk path.
class BulkLink final : public QuietLink {
 public:
  BulkLink() {
    link::Facets facets;
    facets.udp_bulk_path = &bulk;
    facets.wakeup = &wakeup_;
    facets_set(facets);
  }
  int descriptor() const override { return frames.descriptor(); }

  Frames frames;
  BulkFrames bulk;

 private:
  link::LinkWakeup wakeup_;
};

class sleeping : public testing::Test {
 protected:
  using WokenBy = Moderation::WokenBy;
  static constexpr TimeNs kPeriod = 2'000'000;

  void SetUp() override {
    ASSERT_TRUE(slot_.open());
    time_.lock.lock();
    time_.now = time_.clock.read();
    sleeping_.open(link_, nullptr);
  }
  void TearDown() override { time_.lock.unlock(); }

  // Sleeps until something wakes it, or the moderation timer does.
  SleepEnd sleeps(bool announced) {
    SleepRequest request;
    request.until = time_.now + 1000 * kPeriod;
    request.announced = announced;
    const auto plan = sleeping_.plan(request);
    EXPECT_TRUE(plan.has_value());
    return plan ? sleeping_.sleep(slot_, *plan) : SleepEnd{};
  }
  // A frame wakes and does not end the wait: the strategy then leaves the bulk path out.
  void stream_begins() {
    link_.frames.come();
    EXPECT_EQ(sleeps(false).by, WokenBy::frame);
    link_.frames.read();
    sleeping_.learn(true, false, 1, 0);
    ASSERT_TRUE(sleeping_.hears_solicited());
  }

  LockedClock time_;
  ParkSlot slot_;
  BulkLink link_;
  Sleeping sleeping_{time_, Moderation(Strategy::message, kPeriod)};
};

TEST_F(sleeping, bulk_data_wake_an_idle_endpoint) {
  link_.bulk.come();
  const SleepEnd end = sleeps(false);
  EXPECT_EQ(end.by, WokenBy::frame);
  EXPECT_TRUE(end.bulk);
}

TEST_F(sleeping, bulk_data_wait_in_a_stream_until_they_are_announced) {
  ASSERT_NO_FATAL_FAILURE(stream_begins());
  link_.bulk.come();
  const SleepEnd before = sleeps(false);
  EXPECT_EQ(before.by, WokenBy::timer);
  EXPECT_FALSE(before.bulk);
  const SleepEnd after = sleeps(true);
  EXPECT_EQ(after.by, WokenBy::announced);
  EXPECT_TRUE(after.bulk);
}

// Descriptors that the sleep has asked need not be asked again by system calls.
TEST_F(sleeping, tells_that_no_bulk_data_came) {
  link_.frames.come();
  EXPECT_TRUE(sleeps(false).bulk_quiet);
  link_.bulk.come();
  EXPECT_FALSE(sleeps(false).bulk_quiet);
}

TEST_F(sleeping, tells_nothing_of_bulk_data_it_did_not_listen_for) {
  ASSERT_NO_FATAL_FAILURE(stream_begins());
  link_.frames.come();
  EXPECT_FALSE(sleeps(false).bulk_quiet);
}

TEST_F(sleeping, each_frame_of_the_link_wakes_in_a_stream) {
  ASSERT_NO_FATAL_FAILURE(stream_begins());
  link_.frames.come();
  EXPECT_EQ(sleeps(false).by, WokenBy::solicited);
}

}  // namespace
}  // namespace omx::runtime
