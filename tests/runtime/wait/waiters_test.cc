// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/waiters.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace omx::runtime {
namespace {

bool readable(const ParkSlot& slot) {
  pollfd wait{slot.descriptor(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

// Returns whether the waiter's parker was unparked. Such a parker returns at once, even if the deadline has
// passed.
bool unparked(Waiter& waiter) {
  return waiter.parker.park(1) == FutexWait::woken;
}

class waiters : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(waiters_.application_slot().open());
    ASSERT_TRUE(waiters_.progress_slot().open());
  }

  WaitPredicate never_{.kind = WaitPredicate::Kind::never};
  Waiter a_{never_}, b_{never_};
  Waiters waiters_;
};

TEST_F(waiters, wake_sleeper__only_where_one_sleeps) {
  waiters_.wake_sleeper();
  waiters_.join(a_);
  waiters_.lead(a_);
  waiters_.wake_sleeper();
  EXPECT_FALSE(readable(waiters_.application_slot()));
  waiters_.slot().begin(kNever);
  waiters_.wake_sleeper();
  EXPECT_TRUE(readable(waiters_.application_slot()));
  waiters_.unlink(a_);
}

TEST_F(waiters, park_slot__one_event_for_many_wakes) {
  ParkSlot& slot = waiters_.application_slot();
  slot.begin(kNever);
  slot.wake();
  slot.wake();
  slot.event_clear();
  EXPECT_FALSE(readable(slot));
  slot.end();
  slot.begin(kNever);
  slot.wake();
  EXPECT_TRUE(readable(slot));
}

TEST_F(waiters, progress_thread__sleeps_in_a_slot_of_its_own) {
  waiters_.lead(waiters_.progress_thread());
  EXPECT_FALSE(waiters_.application_leads());
  EXPECT_EQ(&waiters_.slot(), &waiters_.progress_slot());
}

TEST_F(waiters, wake_all__followers_and_the_sleeper) {
  waiters_.join(a_);
  waiters_.join(b_);
  waiters_.lead(a_);
  waiters_.slot().begin(kNever);
  const std::uint64_t generation = waiters_.generation();
  EXPECT_FALSE(waiters_.dismissed(generation));
  waiters_.wake_all();
  EXPECT_TRUE(waiters_.dismissed(generation));
  EXPECT_TRUE(readable(waiters_.application_slot()));
  EXPECT_TRUE(unparked(b_));
  EXPECT_FALSE(unparked(a_));
  waiters_.unlink(a_);
  waiters_.unlink(b_);
}

TEST_F(waiters, left__the_first_of_the_list_leads_next) {
  waiters_.join(a_);
  waiters_.join(b_);
  waiters_.left();
  EXPECT_TRUE(unparked(a_));
  EXPECT_FALSE(unparked(b_));
  waiters_.unlink(a_);
  waiters_.unlink(b_);
}

TEST_F(waiters, left__the_last_one_tells_the_closer) {
  Parker closer;
  waiters_.last_unparks(&closer);
  waiters_.join(a_);
  waiters_.unlink(a_);
  waiters_.left();
  EXPECT_EQ(closer.park(1), FutexWait::woken);
}

TEST_F(waiters, left__wakes_a_progress_thread_that_rests) {
  waiters_.left();
  EXPECT_FALSE(unparked(waiters_.progress_thread()));
  waiters_.progress_thread_rests(true);
  waiters_.left();
  EXPECT_TRUE(unparked(waiters_.progress_thread()));
}

}  // namespace
}  // namespace omx::runtime
