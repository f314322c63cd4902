// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "tools/command.h"
#include "tools/perf/perf_leader.h"
#include "tools/perf/perf_measure.h"
#include "tools/perf/perf_open.h"
#include "tools/perf/perf_pairs.h"
#include "tools/perf/perf_plot.h"
#include "tools/perf/perf_report.h"

namespace omx::tools {

namespace {

// The file of --output. It is opened before anything is measured, so that no result is lost, and keeps what
// it holds until there is a result.
class OutputFile {
 public:
  ~OutputFile() {
    if (file_ >= 0) ::close(file_);
  }
  bool open(const std::string& name) {
    file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    return file_ >= 0;
  }
  bool write(std::string_view text) {
    // A pipe, which holds nothing, cannot be truncated.
    if (::ftruncate(file_, 0) != 0 && errno != EINVAL) return false;
    while (!text.empty()) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

 private:
  int file_ = -1;
};

int cannot_write(const std::string& file) {
  return failed("perf", "cannot write {}: {}", file, std::strerror(errno));
}

// Measures all sizes as often as --repeat says.
Result<void> sizes_measure(PerfRunner& runner, const PerfOptions& options, PerfReport& report) {
  const auto sizes = sizes_parse(options.sizes.empty() ? default_sizes(options.test) : options.sizes);
  PerfMeasure measure(runner, options, [&report](std::uint64_t size, const PerfInterval& interval) {
    report.interval(size, interval);
  });
  for (unsigned repeat = 1; repeat <= options.repeats; repeat++) {
    for (const std::uint64_t size : *sizes) {
      auto row = measure.measure(size);
      if (!row) return tl::unexpected(row.error());
      row->repeat = repeat;
      report.add(*row);
    }
  }
  return {};
}

}  // namespace

int perf_measure(const PerfOptions& options) {
  std::optional<PerfPlot> plot;
  if (!options.plot.empty()) {
    auto opened = PerfPlot::open(options.plot);
    if (!opened) return failed("perf", "{}", opened.error().message);
    plot.emplace(std::move(*opened));
  }
  OutputFile output;
  if (!options.output.empty() && !output.open(options.output)) return cannot_write(options.output);

  // Older than the threads of the library, so that it counts their cycles.
  PerfMeter meter(PerfMeter::Scope::process);
  PerfPairs pairs(options, meter);
  PerfLeader leader(options, meter);
  const bool group = options.pattern != PerfPattern::pairs;
  PerfRunner& runner = group ? static_cast<PerfRunner&>(leader) : pairs;
  if (auto r = group ? leader.connect() : pairs.connect(); !r) {
    // Servers that were met already need not find out by themselves.
    (void)runner.leave();
    return perf_failed(r.error());
  }
  const std::string from = group ? leader.describe() : pairs.describe();

  PerfReport report(options, group ? leader.members() : 2);
  if (auto r = sizes_measure(runner, options, report); !r) return perf_failed(r.error());
  const std::string json = perf_json(options, from, report.rows());
  report.finish(json);
  if (!options.output.empty() && !output.write(json)) return cannot_write(options.output);
  if (auto r = runner.leave(); !r) return perf_failed(r.error());
  if (plot) {
    if (auto r = plot->draw(options, report.rows()); !r) return perf_failed(r.error());
  }
  return kOk;
}

}  // namespace omx::tools
