// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/judge_interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tuning/judge_delay.h"
#include "tuning/judge_queues.h"

namespace omx::tuning {

namespace {

constexpr std::uint32_t kJumbo = 9000;
// Holds some blocks of 32 frames from each of several senders.
constexpr std::uint32_t kRing = 1024;

Finding mtu_judge(const InterfaceFacts& facts) {
  const link::Interface& i = facts.interface;
  Finding f("MTU", std::to_string(i.mtu));
  f.verdict = i.mtu >= kJumbo ? Verdict::ok : Verdict::better;
  if (f.verdict == Verdict::ok) {
    f.meaning = "large messages need few frames";
    return f;
  }
  f.meaning =
      "a frame costs about the same whatever its size, so larger ones make large messages faster; all hosts "
      "and switches must allow them, so this is done by hand";
  f.commands.push_back(fmt::format("ip link set dev {} mtu {}", i.name, kJumbo));
  return f;
}

// Returns whether the interface has no queues and interrupts of its own, such as a bond or VLAN.
bool stands_on_others(const InterfaceFacts& facts) {
  const std::string& kind = facts.interface.kind;
  return !facts.below.empty() || kind == "bond" || kind == "team" || kind == "vlan" || kind == "macvlan";
}

Finding below_judge(const InterfaceFacts& facts) {
  Finding f("NICs below", fmt::format("{}", fmt::join(facts.below, ", ")));
  f.meaning = "the other settings that matter are theirs";
  if (facts.below.empty()) {
    f.value = "not visible here";
    f.meaning += ", to be looked at by omx check where they are visible";
  } else {
    f.commands.push_back(fmt::format("omx check {}", fmt::join(facts.below, " ")));
  }
  return f;
}

struct Offload {
  std::string_view feature;
  const char* title;
  const char* option;  // of ethtool -K; nullptr: not relevant, because Open-MX sends no TCP
  const char* meaning;
};

constexpr std::string_view kGro = "rx-gro", kUdpSegmentation = "tx-udp-segmentation";
constexpr Offload kOffloads[] = {
    {kGro, "GRO", "gro", "without GRO each UDP datagram of a large message is handled alone"},
    {"tx-scatter-gather", "scatter-gather", "sg", "without scatter-gather the kernel copies what is sent"},
    {kUdpSegmentation, "UDP segmentation", "tx-udp-segmentation",
     "without UDP segmentation the processor cuts what goes by UDP into frames"},
    {"tx-tcp-segmentation", "TSO", nullptr, ""},
    {"rx-lro", "LRO", nullptr, ""},
};

Finding offloads_judge(const InterfaceFacts& facts) {
  Finding f("offloads");
  if (!facts.features) {
    f.meaning = fmt::format("the driver does not tell them: {}", std::strerror(facts.features.error()));
    return f;
  }
  f.value.clear();
  f.verdict = Verdict::ok;
  for (const Offload& offload : kOffloads) {
    const auto at = std::find_if(facts.features->begin(), facts.features->end(),
                                 [&](const Feature& feature) { return feature.name == offload.feature; });
    if (at == facts.features->end()) continue;
    f.value += fmt::format("{}{} {}", f.value.empty() ? "" : ", ", offload.title, at->active ? "on" : "off");
    if (facts.segmentation_fails && offload.feature == kUdpSegmentation) {
      if (!at->active) continue;
      f.verdict = Verdict::better;
      f.meaning += fmt::format(
          "{}UDP segmentation is announced and does not work: what the NIC should cut does not arrive",
          f.meaning.empty() ? "" : "; ");
      f.commands.push_back(fmt::format("ethtool -K {} {} off", facts.interface.name, offload.option));
      f.changes.push_back(
          {{SettingKind::feature, facts.interface.name, std::string(offload.feature)}, "on", "off"});
      continue;
    }
    if (!offload.option || at->active || at->requested || !at->available) continue;
    // Without hardware, datagrams arrive as large as they were sent, so GRO has nothing to join.
    if (facts.interface.virtual_kind && offload.feature == kGro) continue;
    f.verdict = Verdict::better;
    f.meaning += fmt::format("{}{}", f.meaning.empty() ? "" : "; ", offload.meaning);
    f.commands.push_back(fmt::format("ethtool -K {} {} on", facts.interface.name, offload.option));
    f.changes.push_back(
        {{SettingKind::feature, facts.interface.name, std::string(offload.feature)}, "off", "on"});
  }
  if (f.verdict == Verdict::ok) {
    f.meaning = "what serves Open-MX is on, as far as it can be switched; TSO and LRO concern only TCP";
  }
  return f;
}

Finding threads_judge(const InterfaceFacts& facts) {
  const bool off = *facts.threaded == "0";
  Finding f("receive threads", off ? "off" : "on");
  f.verdict = off ? Verdict::ok : Verdict::better;
  f.meaning = off ? "frames are handled where their interrupt arrives"
                  : "a thread must wake up before a frame is handled";
  if (!off) {
    const Setting setting{SettingKind::device_file, facts.interface.name, "threaded"};
    f.changes.push_back({setting, *facts.threaded, "0"});
    f.commands.push_back(setting_command(setting, "0"));
  }
  return f;
}

}  // namespace

Finding rings_judge(const InterfaceFacts& facts) {
  Finding f("rings", "none");
  if (!facts.rings) {
    f.verdict = facts.interface.virtual_kind ? Verdict::ok : Verdict::unknown;
    f.meaning = facts.interface.virtual_kind
                    ? "an interface without hardware has none"
                    : fmt::format("the driver does not tell how many frames the NIC can hold: {}",
                                  std::strerror(facts.rings.error()));
    if (f.verdict == Verdict::unknown) f.value = "unknown";
    return f;
  }
  const Rings& r = *facts.rings;
  f.value = fmt::format("receive {} of {}, send {} of {}", r.rx, r.rx_max, r.tx, r.tx_max);
  f.verdict = Verdict::ok;
  f.meaning = "the NIC can hold a burst while the processor is busy";
  const std::uint32_t wanted = std::min(kRing, r.rx_max);
  if (r.rx >= wanted) return f;
  f.verdict = Verdict::better;
  f.meaning = "a burst of several senders may overflow the receive ring, and lost frames cost milliseconds";
  const Setting setting{SettingKind::ring, facts.interface.name, "rx"};
  f.changes.push_back({setting, std::to_string(r.rx), std::to_string(wanted)});
  f.commands.push_back(setting_command(setting, std::to_string(wanted)));
  for (const Interrupt& i : facts.interrupts) {
    f.guards.push_back({SettingKind::irq, facts.interface.name, i.number});
  }
  for (const QueueMask& m : facts.xps)
    f.guards.push_back({SettingKind::device_file, facts.interface.name, "queues/" + m.queue + "/xps_cpus"});
  return f;
}

std::vector<Finding> interface_judge(const InterfaceFacts& facts, const HostFacts& host) {
  if (stands_on_others(facts)) return {mtu_judge(facts), below_judge(facts)};
  std::vector<Finding> all = {mtu_judge(facts), rings_judge(facts), channels_judge(facts, host),
                              offloads_judge(facts), coalescing_judge(facts)};
  if (!facts.sysfs) {
    Finding f("what /sys tells");
    f.meaning =
        "/sys shows another network namespace, so interrupts, their deferral and the processors of queues "
        "are not known";
    f.commands.emplace_back(
        "mount -t sysfs sysfs /sys    # in a mount namespace of its own: unshare --mount");
    all.push_back(std::move(f));
    return all;
  }
  all.push_back(deferral_judge(facts));
  all.push_back(suspension_judge(facts));
  if (facts.threaded) all.push_back(threads_judge(facts));
  all.push_back(interrupts_judge(facts, host));
  all.push_back(rps_judge(facts));
  if (!facts.xps.empty()) all.push_back(xps_judge(facts, host));
  return all;
}

}  // namespace omx::tuning
