// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/job_report.h"

#include <sys/auxv.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/host_name.h"
#include "base/log.h"
#include "runtime/report/job_key.h"
#include "runtime/report/report_text.h"

namespace omx::runtime {

namespace {

constexpr const char* kFolder = "/dev/shm";

// The reports that exit() must still print. Never destroyed: a thread may still open endpoints at exit().
struct Waiting {
  std::recursive_mutex mutex;  // guards all members of all reports, too
  std::vector<JobReport*> reports;
  bool at_exit = false;  // exit() calls reports_end()
};
Waiting& waiting() {
  static auto* const made = new Waiting;
  return *made;
}

void reports_end() {
  Waiting& w = waiting();
  const std::lock_guard guard(w.mutex);
  while (!w.reports.empty()) w.reports.back()->end();
}

const char* variable(const char* name) {
  return std::getenv(name);
}

}  // namespace

JobReport::JobReport(const Settings& settings, std::function<void(ReportTotals&)> open_add)
    : settings_(settings), open_add_(std::move(open_add)) {}

// A forked child may have inherited the mutex locked, and has nothing to report.
JobReport::~JobReport() {
  if (mark_.forked() || !wanted()) return;
  Waiting& w = waiting();
  const std::lock_guard guard(w.mutex);
  std::erase(w.reports, this);
}

void JobReport::begin() {
  if (!wanted() || mark_.forked()) return;
  Waiting& w = waiting();
  const std::lock_guard guard(w.mutex);
  if (std::exchange(begun_, true)) return;
  w.reports.push_back(this);
  if (!std::exchange(w.at_exit, true)) std::atexit([] { reports_end(); });
  // A privileged program must not let its caller choose which files it writes.
  const std::string key = ::getauxval(AT_SECURE) == 0 ? job_key(variable) : std::string();
  if (key.empty()) return;
  job_ = std::make_unique<JobFile>(key, kFolder);
  if (job_->join()) return;
  log(LogLevel::warn, "OMX_REPORT: this process reports for itself, as it cannot use a file in {}: {}",
      kFolder, std::strerror(errno));
  job_.reset();
}

void JobReport::closed(const ReportTotals& totals) {
  if (!wanted() || mark_.forked()) return;
  const std::lock_guard guard(waiting().mutex);
  totals_.add(totals);
}

void JobReport::end() {
  if (!wanted() || mark_.forked()) return;
  Waiting& w = waiting();
  const std::lock_guard guard(w.mutex);
  if (!std::exchange(begun_, false)) return;
  std::erase(w.reports, this);
  open_add_(totals_);
  JobTotals own;
  own.totals = std::exchange(totals_, {});
  own.processes = 1;
  const auto job = job_ ? job_->leave(own.totals) : std::optional(own);
  job_.reset();
  if (job) print(*job);
}

void JobReport::print(const JobTotals& job) const {
  const ReportHeading heading{host_name("localhost"), job.processes, job.missing};
  log_plain(LogLevel::warn, settings_.report == ReportKind::json ? report_json(heading, job.totals)
                                                                 : report_line(heading, job.totals));
}

}  // namespace omx::runtime
