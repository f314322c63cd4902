// SPDX-License-Identifier: BSD-3-Clause
// Draws half round trips and bandwidth by size, by gnuplot.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "tools/perf/perf_row.h"

namespace omx::tools {

// Opens the file of a plot. Fails, before anything is measured, if gnuplot is missing or the file cannot be
// written.
class PerfPlot {
 public:
  static Result<PerfPlot> open(const std::string& file);
  PerfPlot(PerfPlot&& other) noexcept;
  PerfPlot& operator=(PerfPlot&&) = delete;
  ~PerfPlot();

  Result<void> draw(const PerfOptions& options, const std::vector<PerfRow>& rows) const;

 private:
  PerfPlot(std::string file, int output) : file_(std::move(file)), output_(output) {}

  std::string file_;
  int output_;
};

// Returns gnuplot's script. Repeats of a size are drawn as the median of their figures.
std::string plot_script(const PerfOptions& options, const std::vector<PerfRow>& rows);

}  // namespace omx::tools
