// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/judge_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>

#include "base/cpu_list.h"
#include "base/number.h"

namespace omx::tuning {

namespace {

constexpr std::string_view kTransmit = "tx-";

bool has(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Returns the processors that should take the interrupts: the online ones at the NIC's NUMA node.
std::vector<int> candidates_of(const InterfaceFacts& facts, const HostFacts& host) {
  const int node = facts.interface.numa_node;
  if (node < 0 || static_cast<std::size_t>(node) >= host.nodes.size()) return host.online;
  std::vector<int> near;
  for (const int cpu : host.nodes[static_cast<std::size_t>(node)]) {
    if (has(host.online, cpu)) near.push_back(cpu);
  }
  return near.empty() ? host.online : near;
}

// Returns the processor of an interrupt that can go to one processor only, else -1.
int processor_of(const Interrupt& interrupt, const HostFacts& host) {
  std::vector<int> cpus;
  for (const int cpu : cpu_list_parse(interrupt.allowed)) {
    if (has(host.online, cpu)) cpus.push_back(cpu);
  }
  return cpus.size() == 1 ? cpus[0] : -1;
}

bool goes_to_dead_processors(const Interrupt& interrupt, const HostFacts& host) {
  const auto cpus = cpu_list_parse(interrupt.allowed);
  return !cpus.empty() &&
         std::none_of(cpus.begin(), cpus.end(), [&](int cpu) { return has(host.online, cpu); });
}

// Returns what is wrong with the interrupts. Nothing is wrong if each queue has a processor near the NIC, and
// queues share processors only when there are too few.
std::string objection_of(const InterfaceFacts& facts, const HostFacts& host,
                         const std::vector<int>& candidates) {
  std::set<int> used;
  bool loose = false;
  for (const Interrupt& interrupt : facts.interrupts) {
    if (goes_to_dead_processors(interrupt, host)) {
      return fmt::format(
          "interrupt {} is bound to processors that are switched off, so it goes wherever the "
          "kernel decides",
          interrupt.number);
    }
    const int cpu = processor_of(interrupt, host);
    if (cpu >= 0 && !has(candidates, cpu)) {
      return fmt::format("interrupt {} goes to processor {}, far from the NIC, which is at NUMA node {}",
                         interrupt.number, cpu, facts.interface.numa_node);
    }
    if (cpu >= 0) used.insert(cpu);
    loose |= cpu < 0;
  }
  if (loose)
    return "interrupts that are not bound may move, away from the processors whose caches hold the data";
  if (used.size() < std::min(facts.interrupts.size(), candidates.size())) {
    return "several queues share a processor while others have none";
  }
  return {};
}

std::string interrupts_value(const std::vector<Interrupt>& interrupts) {
  std::string value;
  for (const Interrupt& i : interrupts) {
    value += fmt::format("{}{} ({}) on {}", value.empty() ? "" : ", ", i.number, i.name, i.allowed);
    if (!i.effective.empty() && i.effective != i.allowed) value += fmt::format(", now {}", i.effective);
  }
  return value;
}

bool is_zero(const std::string& mask) {
  return mask.find_first_not_of("0,") == std::string::npos;
}

std::string masks_value(const std::vector<QueueMask>& masks) {
  std::string value;
  for (const QueueMask& m : masks) {
    if (is_zero(m.mask)) continue;
    value += fmt::format("{}{} {}", value.empty() ? "" : ", ", m.queue, m.mask);
  }
  return value.empty() ? "off" : value;
}

// Returns the mask of `cpus` as the kernel will show it: with as many digits as `mask`, which the kernel
// showed.
std::string mask_like(std::string mask, const std::vector<int>& cpus) {
  int first = 0;  // processor of the digit
  for (auto digit = mask.rbegin(); digit != mask.rend(); ++digit) {
    if (*digit == ',') continue;
    unsigned bits = 0;
    for (const int cpu : cpus)
      if (cpu >= first && cpu < first + 4) bits |= 1U << (cpu - first);
    *digit = "0123456789abcdef"[bits];
    first += 4;
  }
  return mask;
}

// Returns the processor of each interrupt after the changes of interrupts_judge, or -1 if it is unknown.
std::vector<int> processors_after(const InterfaceFacts& facts, const HostFacts& host) {
  const std::vector<int> candidates = candidates_of(facts, host);
  const bool change = !candidates.empty() && !objection_of(facts, host, candidates).empty();
  std::vector<int> after;
  for (std::size_t i = 0; i < facts.interrupts.size(); i++)
    after.push_back(change ? candidates[i % candidates.size()] : processor_of(facts.interrupts[i], host));
  return after;
}

// Returns the processors that should send by each queue.
std::vector<std::vector<int>> senders_of(const InterfaceFacts& facts, const HostFacts& host) {
  const std::size_t queues = facts.xps.size();
  std::vector<std::vector<int>> senders(queues);
  const std::vector<int> after = processors_after(facts, host);
  for (std::size_t i = 0; i < host.online.size(); i++) {
    // A queue that receives and sends has one interrupt for both.
    const auto own =
        after.size() == queues ? std::find(after.begin(), after.end(), host.online[i]) : after.end();
    const auto queue = own != after.end() ? static_cast<std::size_t>(own - after.begin()) : i % queues;
    senders[queue].push_back(host.online[i]);
  }
  return senders;
}

void channels_compare(const Channels& c, const std::string& interface, const HostFacts& host, Finding& f) {
  const bool combined = c.combined_max > 0;
  const std::uint32_t now = combined ? c.combined : c.rx;
  const std::uint32_t most = combined ? c.combined_max : c.rx_max;
  f.value = fmt::format("{} of {} {}", now, most, combined ? "(each receives and sends)" : "for receiving");
  const auto useful =
      std::min(most, static_cast<std::uint32_t>(std::max<std::size_t>(host.online.size(), 1)));
  if (now >= useful) {
    f.verdict = Verdict::ok;
    f.meaning =
        "raw frames carry no IP address, so most NICs put them all into one queue; what goes by UDP is "
        "spread over all";
    return;
  }
  f.verdict = Verdict::better;
  f.meaning = fmt::format(
      "{} processor{} handle{} what arrives by UDP for all programs; a change gives the interface new "
      "interrupts, which cannot be undone exactly, so it is done by hand",
      now, now == 1 ? "" : "s", now == 1 ? "s" : "");
  f.commands.push_back(fmt::format("ethtool -L {} {} {}", interface, combined ? "combined" : "rx", useful));
}

}  // namespace

Finding channels_judge(const InterfaceFacts& facts, const HostFacts& host) {
  Finding f("queues");
  if (!facts.channels) {
    if (!facts.rps.empty()) f.value = fmt::format("{} for receiving", facts.rps.size());
    f.meaning = "the driver does not let their number be changed, or does not tell";
  } else {
    channels_compare(*facts.channels, facts.interface.name, host, f);
  }
  if (facts.interface.virtual_kind) {
    f.verdict = Verdict::ok;
    f.meaning = "an interface without hardware works on the sender's processor";
    f.commands.clear();
  }
  return f;
}

Finding interrupts_judge(const InterfaceFacts& facts, const HostFacts& host) {
  Finding f("interrupts");
  if (facts.interrupts.empty()) {
    f.value = facts.interface.virtual_kind ? "none" : "unknown";
    f.verdict = facts.interface.virtual_kind ? Verdict::ok : Verdict::unknown;
    f.meaning = facts.interface.virtual_kind
                    ? "an interface without hardware has none"
                    : "none of /proc/interrupts is known as one of this interface's receive queues";
    return f;
  }
  f.value = interrupts_value(facts.interrupts);
  const std::vector<int> candidates = candidates_of(facts, host);
  if (candidates.empty() || facts.interrupts[0].allowed.empty()) {
    f.meaning = "which processors they may go to cannot be read";
    return f;
  }
  f.meaning = objection_of(facts, host, candidates);
  if (f.meaning.empty()) {
    f.verdict = Verdict::ok;
    f.meaning = "each queue has a processor near the NIC";
    return f;
  }
  f.verdict = Verdict::better;
  for (std::size_t i = 0; i < facts.interrupts.size(); i++) {
    const Interrupt& interrupt = facts.interrupts[i];
    const std::string wanted = std::to_string(candidates[i % candidates.size()]);
    if (interrupt.allowed == wanted) continue;
    const Setting setting{SettingKind::irq, facts.interface.name, interrupt.number};
    f.changes.push_back({setting, interrupt.allowed, wanted});
    f.commands.push_back(setting_command(setting, wanted));
  }
  return f;
}

Finding rps_judge(const InterfaceFacts& facts) {
  Finding f("RPS", masks_value(facts.rps));
  if (facts.rps.empty()) {
    f.value = "unknown";
    f.meaning = "this kernel was built without it, or it may not be read";
    return f;
  }
  f.verdict = Verdict::ok;
  f.meaning = "frames are handled by the processor that took the interrupt";
  for (const QueueMask& m : facts.rps) {
    if (is_zero(m.mask)) continue;
    f.verdict = Verdict::better;
    f.meaning =
        "frames are handed from processor to processor by an interrupt between them, which costs "
        "microseconds";
    const Setting setting{SettingKind::device_file, facts.interface.name, "queues/" + m.queue + "/rps_cpus"};
    std::string zero = m.mask;  // as the kernel will show it
    for (char& c : zero) c = c == ',' ? ',' : '0';
    f.changes.push_back({setting, m.mask, zero});
    f.commands.push_back(setting_command(setting, "0"));
  }
  return f;
}

// Makes each processor send by the queue whose interrupt it takes, so that completions are handled where the
// frame was sent. Processors without an interrupt share the queues.
Finding xps_judge(const InterfaceFacts& facts, const HostFacts& host) {
  Finding f("XPS", masks_value(facts.xps));
  f.verdict = Verdict::ok;
  if (f.value != "off") {
    f.meaning = "a frame leaves by the queue of the processor that sends it";
    return f;
  }
  f.meaning = "the kernel chooses the queue that a frame leaves by";
  const std::size_t queues = facts.xps.size();
  if (facts.interface.virtual_kind || queues < 2 || host.online.size() < 2) return f;
  const auto senders = senders_of(facts, host);
  f.verdict = Verdict::better;
  f.meaning =
      "the frames of all processors leave by one queue, as raw frames carry no IP address that would tell "
      "them apart";
  for (const QueueMask& m : facts.xps) {
    const auto number = number_parse(std::string_view(m.queue).substr(kTransmit.size()));
    if (!number || *number >= queues || senders[*number].empty()) continue;
    const Setting setting{SettingKind::device_file, facts.interface.name, "queues/" + m.queue + "/xps_cpus"};
    const std::string wanted = mask_like(m.mask, senders[*number]);
    f.changes.push_back({setting, m.mask, wanted});
    f.commands.push_back(setting_command(setting, wanted));
  }
  return f;
}

}  // namespace omx::tuning
