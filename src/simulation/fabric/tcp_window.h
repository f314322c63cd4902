// SPDX-License-Identifier: BSD-3-Clause
// The congestion window of a modelled TCP flow: slow start, then Reno's additive increase or CUBIC (RFC
// 9438), and a multiplicative decrease once per window that lost segments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "simulation/engine/events.h"

namespace omx::simulation::fabric {

enum class TcpKind : std::uint8_t { reno, cubic };

class TcpWindow {
 public:
  explicit TcpWindow(TcpKind kind) : kind_(kind) {}

  std::uint32_t segments() const { return static_cast<std::uint32_t>(window_); }

  void acknowledged(TimeNs now, double segments, TimeNs round_trip) {
    if (window_ < threshold_) {
      window_ = std::min(window_ + segments, kMost);
      return;
    }
    const double reno = window_ + segments * increase() / window_;
    window_ = kind_ == TcpKind::reno ? reno : cubic(now, segments, round_trip);
    window_ = std::min(window_, kMost);
  }
  void lost() {
    most_ = window_ < most_ ? window_ * (1 + kCubicBeta) / 2 : window_;  // fast convergence
    threshold_ = std::max(window_ * beta(), 2.0);
    window_ = estimate_ = threshold_;
    began_ = 0;
  }
  void timed_out() {
    lost();
    window_ = 1;
  }

 private:
  static constexpr double kMost = 2896;  // 4 MiB in segments: what the receiver takes
  static constexpr double kCubicBeta = 0.7, kCubicScale = 0.4;

  double beta() const { return kind_ == TcpKind::reno ? 0.5 : kCubicBeta; }
  // Of the window that CUBIC takes Reno's to be (RFC 9438, 4.3).
  double increase() const { return kind_ == TcpKind::reno ? 1 : 3 * (1 - kCubicBeta) / (1 + kCubicBeta); }
  double cubic(TimeNs now, double segments, TimeNs round_trip) {
    if (began_ == 0) {
      began_ = now;
      estimate_ = window_;
      most_ = std::max(most_, window_);
      rise_ = std::cbrt((most_ - window_) / kCubicScale);
    }
    const double time = static_cast<double>(now - began_) / 1e9 - rise_;
    const double soon = time + static_cast<double>(round_trip) / 1e9;
    const double target = std::clamp(kCubicScale * soon * soon * soon + most_, window_, 1.5 * window_);
    estimate_ += segments * (estimate_ >= most_ ? 1 : increase()) / window_;
    return std::max(window_ + segments * (target - window_) / window_, estimate_);
  }

  TcpKind kind_;
  double window_ = 10;  // RFC 6928
  double threshold_ = 1e9;
  double most_ = 0;                  // when segments were lost last
  double estimate_ = 10, rise_ = 0;  // of CUBIC: Reno's window; seconds until most_ is reached
  TimeNs began_ = 0;                 // the present increase; 0: with the next acknowledgement
};

}  // namespace omx::simulation::fabric
