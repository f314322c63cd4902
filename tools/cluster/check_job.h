// SPDX-License-Identifier: BSD-3-Clause
// omx check --job: the ranks of a job examine their hosts.
#pragma once

#include <string>

#include "tools/cluster/check_hosts.h"

namespace omx::tools {

// Rank 0 returns the exit status of check_cluster(). Other ranks serve it, and return 0.
int check_job_run(const std::string& meet, const CheckHostsOptions& options);

}  // namespace omx::tools
