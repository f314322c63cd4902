// SPDX-License-Identifier: BSD-3-Clause
// Builds the kernel's filter for packet sockets that show Open-MX traffic: frames of our ethertype, and UDP
// datagrams that hold such a frame.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace omx::tools {

struct CaptureRule {
  std::uint32_t snap_length = 0;
  bool udp = true;
  std::uint16_t udp_port = 0;  // the first port that Open-MX uses
  bool received_only = false;  // only frames that this host received and that are addressed to it
};

std::vector<sock_filter> capture_filter_build(const CaptureRule& rule);

}  // namespace omx::tools
