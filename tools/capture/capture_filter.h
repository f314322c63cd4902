// SPDX-License-Identifier: BSD-3-Clause
// The kernel's filter for a packet socket that shows Open-MX traffic: frames of our ethertype, and UDP
// datagrams that hold one.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace omx::tools {

struct CaptureRule {
  std::uint32_t snap_length = 0;
  bool udp = true;
  std::uint16_t udp_port = 0;  // the first of those that Open-MX uses
  bool received_only = false;  // and for this host
};

std::vector<sock_filter> capture_filter_build(const CaptureRule& rule);

}  // namespace omx::tools
