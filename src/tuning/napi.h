// SPDX-License-Identifier: BSD-3-Clause
// How long the kernel holds frames back in each queue: NAPI instances, by netlink (the family "netdev").
// Errors are errno values. EOPNOTSUPP means that the kernel is older than Linux 6.8 and does not report them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/netlink.h"

namespace omx::tuning {

struct Napi {
  std::uint32_t id = 0;
  std::uint32_t interrupt = 0;                   // its number; 0: not known
  std::optional<std::uint64_t> defer_hard_irqs;  // this and the next: from Linux 6.13 on
  std::optional<std::uint64_t> gro_flush_timeout;
  std::optional<std::uint64_t> irq_suspend_timeout;  // ns
};

// Returns the NAPI instances of an interface's queues. There are none while the interface is down.
Expected<std::vector<Napi>, int> napis_read(std::uint32_t ifindex);
Expected<std::vector<Napi>, int> napis_read(Netlink& netlink, std::uint32_t ifindex);

// A setting of one NAPI instance: "8193/gro-flush-timeout".
struct NapiField {
  std::uint32_t id = 0;
  std::string_view field;  // with static storage
};
inline constexpr std::string_view kNapiDefer = "defer-hard-irqs";
inline constexpr std::string_view kNapiFlush = "gro-flush-timeout";
std::string napi_name(std::uint32_t id, std::string_view field);
std::optional<NapiField> napi_name_parse(std::string_view name);
// Returns 0 or errno.
int napi_write(const NapiField& which, std::uint64_t value);

}  // namespace omx::tuning
