// SPDX-License-Identifier: BSD-3-Clause
// The report at the end of a job (OMX_REPORT): one line of what the endpoints of a process did, or those of
// all processes of a job on this host (job_file.h). It is printed when the Process object goes, or at exit().
#pragma once

#include <functional>
#include <memory>

#include "base/fork_guard.h"
#include "config/settings.h"
#include "runtime/report/job_file.h"
#include "runtime/report/report_totals.h"

namespace omx::runtime {

class JobReport {
 public:
  // `open_add` adds what the endpoints did that are still open at exit().
  JobReport(const Settings& settings, std::function<void(ReportTotals&)> open_add);
  ~JobReport();
  JobReport(const JobReport&) = delete;
  JobReport& operator=(const JobReport&) = delete;

  bool wanted() const { return settings_.report != ReportKind::off; }
  // Called when an endpoint was opened.
  void begin();
  // Called with what an endpoint did, when it is closed.
  void closed(const ReportTotals& totals);
  // Prints the report, once. Does nothing if begin() was not called.
  void end();

 private:
  void print(const JobTotals& job) const;

  const Settings& settings_;
  const std::function<void(ReportTotals&)> open_add_;
  ForkMark mark_;
  bool begun_ = false;  // and not ended
  ReportTotals totals_;
  std::unique_ptr<JobFile> job_;  // nullptr: this process reports for itself
};

}  // namespace omx::runtime
