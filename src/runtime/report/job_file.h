// SPDX-License-Identifier: BSD-3-Clause
// A file in /dev/shm by which the processes of a job on one host make one report of theirs. Each process has
// a record in it. The last one that ends reads all records, and removes the file.
//
//          join()             leave(): others run                  leave(): no other runs
//   none ----------> joined ----------------------> reported     joined ----------------> file removed
//                      |
//                      +-- killed: its record stays without totals; the next process that looks sees that
//                          the process is gone
//
// The file belongs to one user and is locked while it is read or written. If all processes of a job are
// killed, their file stays until that user starts the next job with reports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "runtime/report/report_totals.h"

namespace omx::runtime {

// The sums over the processes of a job that reported.
struct JobTotals {
  ReportTotals totals;
  std::size_t processes = 0;
  std::size_t missing = 0;  // joined, and ended without a report
};

class JobFile {
 public:
  // `key` is what job_key() says, `folder` is /dev/shm except in tests.
  JobFile(std::string key, std::string folder);

  // Adds a record for this process. Returns false, with errno set, when that is impossible: no folder, a file
  // of another user or another version of Open-MX. The process reports for itself then.
  bool join();
  // Writes the totals of this process. Returns those of the job if no other process of it runs, otherwise
  // nullopt. Returns those of this process alone if the file has gone. Called once, after join().
  std::optional<JobTotals> leave(const ReportTotals& totals);

 private:
  const std::string key_;
  const std::string folder_;
  std::string path_;
  std::size_t place_ = 0;  // of the record in the file
};

}  // namespace omx::runtime
