// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/spin_budget.h"

#include <gtest/gtest.h>

namespace omx::runtime {
namespace {

constexpr TimeNs kSpinMost = 100'000;

TEST(spin_budget, first_wait__spins_as_long_as_allowed) {
  SpinBudget budget(kSpinMost);
  EXPECT_EQ(budget.next(), kSpinMost);
}

TEST(spin_budget, failed__halves_until_it_gives_up) {
  SpinBudget budget(kSpinMost);
  TimeNs before = budget.next();
  for (int wait = 0; wait < 10; wait++) {
    budget.spin_failed(before);
    EXPECT_LE(budget.present(), before / 2);
    before = budget.present();
  }
  EXPECT_EQ(budget.next(), 0U);
}

TEST(spin_budget, given_up__a_trial_as_long_as_waits_take) {
  SpinBudget budget(kSpinMost);
  while (budget.present() > 0) budget.spin_failed(budget.present());
  for (int wait = 0; wait < 100; wait++) budget.waited(10'000);
  TimeNs trial = 0;
  for (int wait = 0; wait < 64 && trial == 0; wait++) trial = budget.next();
  EXPECT_GE(trial, 10'000U);
  EXPECT_LE(trial, kSpinMost);
}

TEST(spin_budget, given_up__no_trial_where_waits_take_long) {
  SpinBudget budget(kSpinMost);
  while (budget.present() > 0) budget.spin_failed(budget.present());
  for (int wait = 0; wait < 100; wait++) budget.waited(10 * kSpinMost);
  for (int wait = 0; wait < 200; wait++) EXPECT_EQ(budget.next(), 0U);
}

TEST(spin_budget, paid__grows_up_to_the_most) {
  SpinBudget budget(kSpinMost);
  while (budget.present() > 0) budget.spin_failed(budget.present());
  budget.yields_are(true);
  budget.spin_paid(1'000);
  EXPECT_GT(budget.next(), 0U);
  EXPECT_FALSE(budget.yields());
  for (int wait = 0; wait < 10; wait++) budget.spin_paid(kSpinMost);
  EXPECT_EQ(budget.next(), kSpinMost);
}

}  // namespace
}  // namespace omx::runtime
