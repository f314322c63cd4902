// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/judge_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/number.h"
#include "netdev/socket_buffer.h"

namespace omx::tuning {

namespace {

// Leaving an idle state that takes longer than this delays messages noticeably.
constexpr unsigned kIdleMost_us = 10;
constexpr const char* kPerformance = "performance";

// Returns the command that writes a value for all processors.
std::string everywhere(const std::string& file, const char* value) {
  return fmt::format("for f in /sys/devices/system/cpu/cpu[0-9]*/{}; do echo {} > $f; done", file, value);
}

Finding idle_judge(const HostFacts& facts) {
  Finding f("idle states");
  if (facts.idle.empty()) {
    if (!facts.idle_driver.empty()) f.value = fmt::format("driver {}, no states", facts.idle_driver);
    f.meaning = "the kernel chooses none here; if this is a virtual machine, its host does";
    return f;
  }
  f.value.clear();
  f.verdict = Verdict::ok;
  for (const IdleState& state : facts.idle) {
    f.value += fmt::format("{}{} {} us{}", f.value.empty() ? "" : ", ", state.name, state.latency_us,
                           state.enabled.empty() ? " (off)" : "");
    if (state.latency_us <= kIdleMost_us || state.enabled.empty()) continue;
    f.verdict = Verdict::better;
    f.commands.push_back(everywhere(fmt::format("cpuidle/{}/disable", state.state), "1"));
    for (const int cpu : state.enabled) {
      const std::string file =
          fmt::format("/sys/devices/system/cpu/cpu{}/cpuidle/{}/disable", cpu, state.state);
      f.changes.push_back({{SettingKind::host_file, "", file}, "0", "1"});
    }
  }
  f.meaning = f.verdict == Verdict::ok
                  ? "an idle processor wakes up within microseconds"
                  : "an idle processor may need longer to wake up than a message to travel; "
                    "without these states it draws more power";
  return f;
}

Finding governor_judge(const HostFacts& facts) {
  Finding f("frequency governor");
  if (facts.governors.empty()) {
    f.meaning = "the kernel does not choose frequencies here; if this is a virtual machine, its host does";
    return f;
  }
  std::set<std::string> names;
  for (const auto& [cpu, governor] : facts.governors) names.insert(governor);
  f.value = fmt::format("{}", fmt::join(names, ", "));
  f.verdict = f.value == kPerformance ? Verdict::ok : Verdict::better;
  f.meaning = f.verdict == Verdict::ok
                  ? "processors do not slow down while a program waits"
                  : "a processor that slept answers slowly until its frequency has risen";
  if (f.verdict == Verdict::ok) return f;
  if (!facts.performance_available) {
    f.verdict = Verdict::unknown;
    f.meaning += ", but this machine has no performance governor";
    return f;
  }
  f.commands.push_back(everywhere("cpufreq/scaling_governor", kPerformance));
  for (const auto& [cpu, governor] : facts.governors) {
    if (governor == kPerformance) continue;
    const std::string file = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu);
    f.changes.push_back({{SettingKind::host_file, "", file}, governor, kPerformance});
  }
  return f;
}

Finding buffer_judge(const char* name, const std::optional<std::string>& value, int wanted,
                     const char* effect) {
  Finding f(fmt::format("net.core.{}", name), value.value_or("unknown"));
  if (!value) {
    f.meaning = "it cannot be read here; the first network namespace of the host has it";
    return f;
  }
  f.verdict =
      number_parse(*value).value_or(0) >= static_cast<std::uint64_t>(wanted) ? Verdict::ok : Verdict::better;
  f.meaning =
      f.verdict == Verdict::ok
          ? std::string("sockets get the buffers that Open-MX asks for")
          : fmt::format("programs without CAP_NET_ADMIN get smaller socket buffers than Open-MX asks for, {}",
                        effect);
  if (f.verdict == Verdict::ok) return f;
  f.commands.push_back(fmt::format("sysctl -w net.core.{}={}", name, wanted));
  f.changes.push_back({{SettingKind::host_file, "", fmt::format("/proc/sys/net/core/{}", name)},
                       *value,
                       std::to_string(wanted)});
  return f;
}

Finding busy_poll_judge(const HostFacts& facts) {
  Finding f("busy polling");
  if (!facts.busy_poll || !facts.busy_read) {
    f.meaning = "this kernel has no net.core.busy_poll, or it cannot be read here; Open-MX does without";
    return f;
  }
  f.value = fmt::format("busy_poll {}, busy_read {}", *facts.busy_poll, *facts.busy_read);
  f.verdict = Verdict::ok;
  f.meaning = "Open-MX spins by itself before it sleeps (OMX_SPIN_US), and needs none of this";
  if (const auto spin_us = number_parse(*facts.busy_poll).value_or(0); spin_us != 0)
    f.meaning += fmt::format(
        "; threads that sleep for frames by UDP (OMX_LINK=udp) spin {} us more in the kernel, raw frames "
        "take "
        "no part",
        spin_us);
  return f;
}

Finding irqbalance_judge(const HostFacts& facts) {
  Finding f("irqbalance", facts.irqbalance ? "runs" : "does not run");
  f.verdict = facts.irqbalance ? Verdict::better : Verdict::ok;
  f.meaning = facts.irqbalance ? "it moves interrupts again after they were bound"
                               : "interrupts stay where they were bound";
  if (facts.irqbalance) f.commands.emplace_back("systemctl stop irqbalance");
  return f;
}

}  // namespace

std::vector<Finding> host_judge(const HostFacts& facts) {
  return {
      idle_judge(facts),
      governor_judge(facts),
      buffer_judge("rmem_max", facts.rmem_max, link::kBulkBuffer, "and may lose frames of large messages"),
      buffer_judge("wmem_max", facts.wmem_max, link::kSocketBuffer, "and hand over fewer frames at a time"),
      busy_poll_judge(facts),
      irqbalance_judge(facts)};
}

}  // namespace omx::tuning
