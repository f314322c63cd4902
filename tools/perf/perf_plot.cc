// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_plot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <myriexpress.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tools/perf/perf_compare.h"

namespace omx::tools {

namespace {

// Returns whether a folder of PATH has this program.
bool program_found(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/bin:/bin";
  for (;;) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const std::string file = fmt::format("{}/{}", folders.substr(0, colon), name);
    if (::access(file.c_str(), X_OK) == 0) return true;
    if (colon == folders.size()) return false;
    folders.remove_prefix(colon + 1);
  }
}

// Returns a string of gnuplot, which leaves all but a single quote as it is.
std::string quoted(const std::string& text) {
  std::string quote = "'";
  for (const char c : text) {
    if (c == '\'') quote += '\'';
    quote += c;
  }
  return quote + '\'';
}

// Runs gnuplot. Its script comes from one file, its drawing goes to another.
Result<void> gnuplot_run(int script, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  char name[] = "gnuplot";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, name, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) return fail(MX_FAILURE, fmt::format("gnuplot cannot be started: {}", std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(MX_FAILURE, "gnuplot could not draw the plot, for the reason above");
}

}  // namespace

std::string plot_script(const PerfOptions& options, const std::vector<PerfRow>& rows) {
  std::map<std::uint64_t, std::pair<std::vector<double>, std::vector<double>>> of_size;
  for (const PerfRow& row : rows) {
    auto& [times, rates] = of_size[row.size];
    times.push_back(row.median_us);
    rates.push_back(row.mb_per_s());
  }
  std::string script = "set terminal svg size 900,420 background 'white'\n$figures << END\n";
  for (auto& [size, figures] : of_size)
    script += fmt::format("{} {:.4f} {:.4f}\n", size, spread_of(figures.first).median,
                          spread_of(figures.second).median);
  const bool pingpong = options.test == PerfTest::pingpong;
  script += fmt::format(
      "END\nset multiplot layout 1,{} title {} noenhanced\n", pingpong ? 2 : 1,
      quoted(fmt::format("omx perf: {} with {}", test_name(options.test), fmt::join(options.peers, ", "))));
  // A message without a byte has no place on a logarithmic axis, so it is drawn at half a byte.
  script +=
      "unset key\nset grid\nset logscale x 2\nset xlabel 'bytes of a message'\nset format x '%.0b%B'\n"
      "set xtics rotate by -45\nat(size) = size > 0 ? size : 0.5\nset style data linespoints\n"
      "set pointsize 0.5\n";
  if (pingpong)
    script +=
        "set logscale y\nset ylabel 'half round trip (median), us'\nplot $figures using (at($1)):2\n"
        "unset logscale y\n";
  script += "set ylabel 'MB/s'\nset yrange [0:*]\nplot $figures using (at($1)):3\nunset multiplot\n";
  return script;
}

Result<PerfPlot> PerfPlot::open(const std::string& file) {
  if (!program_found("gnuplot"))
    return fail(MX_FAILURE, "--plot needs gnuplot, which is missing; as root: apt-get install gnuplot-nox");
  const int output = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (output < 0) return fail(MX_FAILURE, fmt::format("cannot write {}: {}", file, std::strerror(errno)));
  return PerfPlot(file, output);
}

PerfPlot::PerfPlot(PerfPlot&& other) noexcept : file_(std::move(other.file_)), output_(other.output_) {
  other.output_ = -1;
}

PerfPlot::~PerfPlot() {
  if (output_ >= 0) ::close(output_);
}

Result<void> PerfPlot::draw(const PerfOptions& options, const std::vector<PerfRow>& rows) const {
  const std::string script = plot_script(options, rows);
  const int input = ::memfd_create("omx-plot", MFD_CLOEXEC);
  if (input < 0) return fail(MX_FAILURE, fmt::format("no memory for the plot: {}", std::strerror(errno)));
  Result<void> drawn;
  // The file keeps an earlier plot until there is a new one. A pipe, which holds nothing, cannot be
  // truncated.
  if (::ftruncate(output_, 0) != 0 && errno != EINVAL) {
    drawn = fail(MX_FAILURE, fmt::format("cannot write {}: {}", file_, std::strerror(errno)));
  } else if (::write(input, script.data(), script.size()) != static_cast<ssize_t>(script.size()) ||
             ::lseek(input, 0, SEEK_SET) != 0) {
    drawn = fail(MX_FAILURE, "no memory for the plot");
  } else {
    drawn = gnuplot_run(input, output_);
  }
  ::close(input);
  return drawn;
}

}  // namespace omx::tools
