// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/judge_delay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/number.h"
#include "tuning/driver_facts.h"

namespace omx::tuning {

namespace {

constexpr std::uint32_t kDelayMost_us = 5;
// Shorter than the answer of a peer, so that a ping-pong never waits for it. Long enough for several frames.
constexpr std::uint64_t kDeferPeriod_ns = 5000;
constexpr std::uint64_t kDeferMost_ns = 50000;

constexpr const char* kCoalescingNames[] = {"adaptive-rx", "adaptive-tx", "tx-frames",
                                            "tx-usecs",    "rx-frames",   "rx-usecs"};

std::uint64_t number_of(const std::string& text) {
  return number_parse(text).value_or(0);
}

bool deferral_known(const InterfaceFacts& facts) {
  return facts.defer_hard_irqs && facts.gro_flush_timeout;
}

struct Deferral {
  std::uint64_t count = 0;
  std::uint64_t period_ns = 0;
};

// Returns what is wrong with a deferral, or nothing.
std::string objection_of(const Deferral& d, bool hardware) {
  if (d.period_ns * std::max<std::uint64_t>(d.count, 1) > kDeferMost_ns)
    return fmt::format("a message that follows others may wait {} us for a timer", d.period_ns / 1000);
  if (hardware && d.count * d.period_ns == 0)
    return "each frame of a stream may interrupt; deferred, only the first after a pause does, and at once";
  if (!hardware && d.period_ns != 0)
    return "an interface without hardware has no interrupts to save, so frames wait for nothing";
  return {};
}

// Returns the queues whose values differ from the interface's.
std::vector<Napi> napis_apart(const InterfaceFacts& facts, const Deferral& of_all) {
  std::vector<Napi> apart;
  if (!facts.napis) return apart;
  for (const Napi& napi : *facts.napis)
    if (napi.defer_hard_irqs && napi.gro_flush_timeout &&
        (*napi.defer_hard_irqs != of_all.count || *napi.gro_flush_timeout != of_all.period_ns))
      apart.push_back(napi);
  return apart;
}

void deferral_change(Finding& f, SettingKind kind, const std::string& interface, const std::string& name,
                     std::uint64_t former, std::uint64_t wanted) {
  if (former == wanted) return;
  const Setting setting{kind, interface, name};
  f.changes.push_back({setting, std::to_string(former), std::to_string(wanted)});
  f.commands.push_back(setting_command(setting, std::to_string(wanted)));
}

std::string coalescing_command(const InterfaceFacts& facts, const std::vector<Change>& changes) {
  std::string command = "ethtool -C " + facts.interface.name;
  for (const Change& change : changes) command += fmt::format(" {} {}", change.setting.name, change.wanted);
  return command;
}

// Returns the delay that coalescing should have. If deferral can hold frames back, the NIC needs no delay.
// Otherwise a short delay limits interrupts.
std::uint32_t delay_wanted(const InterfaceFacts& facts, const DriverFacts& driver) {
  const std::uint32_t now = facts.coalescing->rx_usecs;
  // The shortest time of some drivers is longer than the wanted one.
  const std::uint32_t most =
      deferral_known(facts) ? kDelayMost_us : std::max(kDelayMost_us, driver.shortest_us);
  if (now <= most && driver.dynamic_most_us(now) == 0) return now;
  return deferral_known(facts) ? 0 : most;
}

std::string coalescing_objection(const Coalescing& c, const DriverFacts& driver) {
  if (c.adaptive_rx)
    return "the driver changes the delay with the traffic, so the latency of messages varies";
  if (const std::uint32_t most_us = driver.dynamic_most_us(c.rx_usecs))
    return fmt::format(
        "to the driver {} rx-usecs {} is no time but a dynamic mode: a message may wait up to {} us "
        "in the NIC",
        driver.driver, c.rx_usecs, most_us);
  if (c.rx_usecs > kDelayMost_us)
    return fmt::format("a message may wait {} us in the NIC before anybody hears of it", c.rx_usecs);
  return fmt::format("a message may wait until {} frames have come", c.rx_frames);
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
  const DriverFacts driver = driver_facts(facts.interface.driver);
  const bool dynamic = driver.dynamic_most_us(c.rx_usecs) > 0;
  Finding f("interrupt coalescing");
  f.value = fmt::format("adaptive-rx {}, rx-usecs {}{}, rx-frames {}", c.adaptive_rx ? "on" : "off",
                        c.rx_usecs, dynamic ? " (a dynamic mode)" : "", c.rx_frames);
  const auto change = [&](const char* name, std::string former, std::string wanted) {
    if (former == wanted) return;
    f.changes.push_back({{SettingKind::coalescing, facts.interface.name, name}, std::move(former), wanted});
  };
  const std::uint32_t usecs = delay_wanted(facts, driver);
  // Without a delay, only the count of frames would release frames.
  const std::uint32_t frames = usecs == 0 && c.rx_frames > 1 ? 1 : c.rx_frames;
  if (c.adaptive_rx)
    change("adaptive-rx", "on", "off");  // first, because it keeps some drivers from taking the others
  change("rx-frames", std::to_string(c.rx_frames), std::to_string(frames));
  change("rx-usecs", std::to_string(c.rx_usecs), std::to_string(usecs));
  if (f.changes.empty()) {
    f.verdict = Verdict::ok;
    f.meaning = "a frame is announced as soon as it is there, or a few microseconds later";
    return f;
  }
  f.verdict = Verdict::better;
  f.meaning = coalescing_objection(c, driver);
  f.commands.push_back(coalescing_command(facts, f.changes));
  // In many NICs receive and send share an interrupt, so a value for one also changes the other.
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
  const bool hardware = !facts.interface.virtual_kind;
  const Deferral of_all{number_of(*facts.defer_hard_irqs), number_of(*facts.gro_flush_timeout)};
  const Deferral wanted = hardware ? Deferral{1, kDeferPeriod_ns} : Deferral{0, 0};
  const std::vector<Napi> apart = napis_apart(facts, of_all);
  f.value = fmt::format("napi_defer_hard_irqs {}, gro_flush_timeout {} ns", of_all.count, of_all.period_ns);
  for (const Napi& napi : apart)
    f.value += fmt::format(
        "; queue {}: {}, {} ns",
        napi.interrupt ? fmt::format("of interrupt {}", napi.interrupt) : fmt::format("of NAPI {}", napi.id),
        *napi.defer_hard_irqs, *napi.gro_flush_timeout);
  f.meaning = objection_of(of_all, hardware);
  if (!f.meaning.empty()) {
    deferral_change(f, SettingKind::device_file, facts.interface.name, "gro_flush_timeout", of_all.period_ns,
                    wanted.period_ns);
    deferral_change(f, SettingKind::device_file, facts.interface.name, "napi_defer_hard_irqs", of_all.count,
                    wanted.count);
    // Both files set all queues to one value.
    for (const Napi& napi : apart)
      for (const std::string_view field : {kNapiFlush, kNapiDefer})
        f.guards.push_back({SettingKind::napi, facts.interface.name, napi_name(napi.id, field)});
  }
  const bool alike_then = !f.meaning.empty();
  for (const Napi& napi : apart) {
    if (alike_then) break;
    const Deferral own{*napi.defer_hard_irqs, *napi.gro_flush_timeout};
    const std::string objection = objection_of(own, hardware);
    if (objection.empty()) continue;
    if (f.meaning.empty()) f.meaning = "of a queue that was set apart: " + objection;
    deferral_change(f, SettingKind::napi, facts.interface.name, napi_name(napi.id, kNapiFlush), own.period_ns,
                    wanted.period_ns);
    deferral_change(f, SettingKind::napi, facts.interface.name, napi_name(napi.id, kNapiDefer), own.count,
                    wanted.count);
  }
  f.verdict = f.meaning.empty() ? Verdict::ok : Verdict::better;
  if (f.meaning.empty())
    f.meaning = hardware
                    ? "the first frame after a pause interrupts, those that follow are fetched by a timer"
                    : "frames are handled as they come";
  return f;
}

Finding suspension_judge(const InterfaceFacts& facts) {
  Finding f("interrupt suspension");
  if (!facts.napis) {
    f.meaning = fmt::format("this kernel does not tell what its queues have (Linux 6.8 does): {}",
                            std::strerror(facts.napis.error()));
    return f;
  }
  if (facts.napis->empty()) {
    f.value = "none";
    f.verdict = Verdict::ok;
    f.meaning = "no queue of it is polled now, so there is nothing to suspend";
    return f;
  }
  std::uint64_t longest = 0;
  for (const Napi& napi : *facts.napis) {
    if (!napi.irq_suspend_timeout) {
      f.meaning = "this kernel has none (it came with Linux 6.13), so there is nothing to be held back by it";
      return f;
    }
    longest = std::max(longest, *napi.irq_suspend_timeout);
    if (*napi.irq_suspend_timeout != 0)
      f.commands.push_back(fmt::format(
          R"(ynl --family netdev --do napi-set --json '{{"id": {}, "irq-suspend-timeout": 0}}')", napi.id));
  }
  f.value = fmt::format("irq-suspend-timeout {} ns", longest);
  f.verdict = longest == 0 ? Verdict::ok : Verdict::better;
  f.meaning = longest == 0
                  ? "no program that polls a queue by itself keeps frames of others waiting in it"
                  : fmt::format(
                        "where a program prefers to poll a queue by itself (epoll), frames of all others "
                        "in that queue wait for it, up to {} us",
                        longest / 1000);
  return f;
}

}  // namespace omx::tuning
