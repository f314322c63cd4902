// SPDX-License-Identifier: BSD-3-Clause
// Bounds how much of the broker's time one user takes, to a quarter. A user who asks for more is read later,
// so that others are served meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

namespace omx::broker {

class Pace {
 public:
  // Charges the time that a request took.
  void charge(std::int64_t now, std::int64_t took_ns) {
    free_at_ = std::max(free_at_, now) + kShare * took_ns;
  }
  // Returns when the user may be read again; not later than `now` if at once.
  std::int64_t readable_at() const { return free_at_ - kBurstNs; }

  // Returns whether a question may go to the network now.
  bool question(std::int64_t now) { return spend(questions_at_, now, kQuestionNs, kQuestionBurstNs); }
  // Returns whether a complaint about this user may be logged now.
  bool complaint(std::int64_t now) { return spend(complaints_at_, now, kComplaintNs, kComplaintNs); }

 private:
  static constexpr std::int64_t kShare = 4, kBurstNs = 2'000'000'000;
  static constexpr std::int64_t kQuestionNs = 20'000'000, kQuestionBurstNs = 1'000'000'000;
  static constexpr std::int64_t kComplaintNs = 1'000'000'000;

  static bool spend(std::int64_t& at, std::int64_t now, std::int64_t each, std::int64_t burst) {
    if (at > now + burst - each) return false;
    at = std::max(at, now) + each;
    return true;
  }

  std::int64_t free_at_ = 0;
  std::int64_t questions_at_ = 0;
  std::int64_t complaints_at_ = 0;
};

}  // namespace omx::broker
