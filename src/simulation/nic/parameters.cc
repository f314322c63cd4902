// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/parameters.h"

#include <fmt/format.h>

#include <cmath>

namespace omx::simulation::nic {

namespace {

Range range_of_unit(std::string_view unit) {
  if (unit == "0 or 1") return {0, 1};
  if (unit == "bit/s" || unit == "B/s") return {1e6, 1e13};
  if (unit == "B") return {1, 1e9};
  if (unit == "frames") return {1, 1e6};
  if (unit == "queues") return {1, 64};
  if (unit == "lines") return {0, 1e4};
  if (unit == "chunks") return {0, 100};
  return {0, 1e9};  // ns
}

std::string wrong(std::string_view name, std::string_view unit, double value) {
  const Range range = range_of(name);
  const bool whole = unit == "0 or 1" || unit == "frames" || unit == "queues";
  if (value >= range.least && value <= range.most && (!whole || value == std::floor(value))) return {};
  return fmt::format("{} must be {} from {:g} to {:g} ({}), not {:g}", name,
                     whole ? "a whole number" : "a number", range.least, range.most, unit, value);
}

}  // namespace

Range range_of(std::string_view name) {
  if (name == "timeout_frames") return {0, 1e6};
#define X(known, value, unit, kind, source) \
  if (name == #known) return range_of_unit(unit);
  OMX_NIC_PARAMETERS(X)
#undef X
  return {0, 0};
}

std::string parameters_wrong(const Parameters& p) {
  std::string why;
#define X(name, value, unit, kind, source) \
  if (why.empty()) why = wrong(#name, unit, p.name);
  OMX_NIC_PARAMETERS(X)
#undef X
  if (why.empty() && p.dma_latency_ns > p.hardware_ns)
    why = fmt::format("dma_latency_ns, {:g}, is part of hardware_ns, {:g}, and must not be more",
                      p.dma_latency_ns, p.hardware_ns);
  return why;
}

}  // namespace omx::simulation::nic
