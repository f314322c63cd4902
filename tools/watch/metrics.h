// SPDX-License-Identifier: BSD-3-Clause
// The counters of endpoints as text for monitoring systems: OpenMetrics 1.0, or the older format of
// Prometheus, the only one that node_exporter reads from files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/endpoint/counters_shared.h"

namespace omx::tools {

enum class MetricsFormat { openmetrics, prometheus };

// An endpoint on one of its boards.
struct MetricsSource {
  std::string link;  // name of the interface
  std::uint32_t endpoint = 0;
  std::string process;  // name of the program
  std::shared_ptr<const runtime::SharedEndpoint> shared;
};

// The endpoints of one host. `unreadable` counts open ones of another user or another version of Open-MX,
// which are left out.
struct MetricsHost {
  std::string name;
  std::vector<MetricsSource> sources;
  std::size_t unreadable = 0;
};

// Returns the name of a counter's metric, without the ending "_total" of its samples. As OpenMetrics demands,
// the name ends with the unit.
std::string metric_name(std::string_view label, std::string_view unit);

std::string metrics_text(const MetricsHost& host, MetricsFormat format);

}  // namespace omx::tools
