// SPDX-License-Identifier: BSD-3-Clause
// What holds frames back between their arrival and the interrupt: the NIC's coalescing, and the kernel's
// deferral.
//
// A message that comes alone should interrupt at once, a stream should not with each frame. Coalescing in the
// NIC delays both; NAPI's deferral does what is wanted: the first frame after a pause interrupts, those that
// follow are fetched by a timer, until one period has passed without any.
#include <fmt/format.h>

#include <cstring>

#include "base/number.h"
#include "tuning/finding.h"

namespace omx::tuning {

namespace {

constexpr std::uint32_t kDelayMost_us = 5;
// Shorter than what a peer needs to answer, so that a ping-pong never meets it; long enough for several
// frames.
constexpr unsigned long kDeferPeriod_ns = 5000;
constexpr unsigned long kDeferMost_ns = 50000;

constexpr const char* kCoalescingNames[] = {"adaptive-rx", "adaptive-tx", "tx-frames",
                                            "tx-usecs",    "rx-frames",   "rx-usecs"};

unsigned long number_of(const std::string& text) {
  return number_parse(text).value_or(0);
}

bool deferral_known(const InterfaceFacts& facts) {
  return facts.defer_hard_irqs && facts.gro_flush_timeout;
}

std::string coalescing_command(const InterfaceFacts& facts, const std::vector<Change>& changes) {
  std::string command = "ethtool -C " + facts.interface.name;
  for (const Change& change : changes) command += fmt::format(" {} {}", change.setting.name, change.wanted);
  return command;
}

Finding coalescing_absent(const InterfaceFacts& facts) {
  Finding f("interrupt coalescing", "none");
  if (facts.interface.virtual_kind) {
    f.verdict = Verdict::ok;
    f.meaning = "an interface without hardware holds nothing back";
    return f;
  }
  f.value = "unknown";
  f.meaning =
      fmt::format("the driver does not tell how long the NIC holds frames back ({}); omx perf measures it",
                  std::strerror(facts.coalescing.error()));
  return f;
}

}  // namespace

Finding coalescing_judge(const InterfaceFacts& facts) {
  if (!facts.coalescing) return coalescing_absent(facts);
  const Coalescing& c = *facts.coalescing;
  Finding f("interrupt coalescing");
  f.value = fmt::format("adaptive-rx {}, rx-usecs {}, rx-frames {}", c.adaptive_rx ? "on" : "off", c.rx_usecs,
                        c.rx_frames);
  const auto change = [&](const char* name, std::string former, std::string wanted) {
    if (former == wanted) return;
    f.changes.push_back({{SettingKind::coalescing, facts.interface.name, name}, std::move(former), wanted});
  };
  std::uint32_t usecs = c.rx_usecs;
  // Five, not one to three: those have special meanings for some drivers.
  if (usecs > kDelayMost_us) usecs = deferral_known(facts) ? 0 : kDelayMost_us;
  // Without a delay, only the count of frames would release them.
  const std::uint32_t frames = usecs == 0 && c.rx_frames > 1 ? 1 : c.rx_frames;
  if (c.adaptive_rx)
    change("adaptive-rx", "on", "off");  // first: it keeps some drivers from taking the others
  change("rx-frames", std::to_string(c.rx_frames), std::to_string(frames));
  change("rx-usecs", std::to_string(c.rx_usecs), std::to_string(usecs));
  if (f.changes.empty()) {
    f.verdict = Verdict::ok;
    f.meaning = "a frame is announced as soon as it is there, or a few microseconds later";
    return f;
  }
  f.verdict = Verdict::better;
  f.meaning = c.adaptive_rx
                  ? "the driver changes the delay with the traffic, so the latency of messages varies"
              : c.rx_usecs > kDelayMost_us
                  ? fmt::format("a message may wait {} us in the NIC before anybody hears of it", c.rx_usecs)
                  : fmt::format("a message may wait until {} frames have come", c.rx_frames);
  f.commands.push_back(coalescing_command(facts, f.changes));
  // Receive and send share an interrupt in many NICs, and then what is set for one holds for the other.
  for (const char* name : kCoalescingNames)
    f.guards.push_back({SettingKind::coalescing, facts.interface.name, name});
  return f;
}

Finding deferral_judge(const InterfaceFacts& facts) {
  Finding f("interrupt deferral");
  if (!deferral_known(facts)) {
    f.meaning =
        "this kernel has none (it came with Linux 5.8), so the NIC's coalescing alone limits interrupts";
    return f;
  }
  const unsigned long count = number_of(*facts.defer_hard_irqs);
  const unsigned long period = number_of(*facts.gro_flush_timeout);
  f.value = fmt::format("napi_defer_hard_irqs {}, gro_flush_timeout {} ns", count, period);
  f.verdict = Verdict::ok;
  const bool hardware = !facts.interface.virtual_kind;
  unsigned long wanted_count = count;
  unsigned long wanted_period = period;
  if (period * std::max(count, 1UL) > kDeferMost_ns) {
    f.verdict = Verdict::better;
    f.meaning = fmt::format("a message that follows others may wait {} us for a timer", period / 1000);
  } else if (hardware && count * period == 0) {
    f.verdict = Verdict::better;
    f.meaning =
        "each frame of a stream may interrupt; deferred, only the first after a pause does, and at once";
  } else if (!hardware && period != 0) {
    f.verdict = Verdict::better;
    f.meaning = "an interface without hardware has no interrupts to save, so frames wait for nothing";
  } else {
    f.meaning = hardware
                    ? "the first frame after a pause interrupts, those that follow are fetched by a timer"
                    : "frames are handled as they come";
  }
  if (f.verdict == Verdict::ok) return f;
  wanted_count = hardware ? 1 : 0;
  wanted_period = hardware ? kDeferPeriod_ns : 0;
  const auto change = [&](const char* name, const std::string& former, unsigned long wanted) {
    if (number_of(former) == wanted) return;
    const Setting setting{SettingKind::device_file, facts.interface.name, name};
    f.changes.push_back({setting, former, std::to_string(wanted)});
    f.commands.push_back(setting_command(setting, std::to_string(wanted)));
  };
  change("gro_flush_timeout", *facts.gro_flush_timeout, wanted_period);
  change("napi_defer_hard_irqs", *facts.defer_hard_irqs, wanted_count);
  return f;
}

}  // namespace omx::tuning
