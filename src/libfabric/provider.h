// SPDX-License-Identifier: BSD-3-Clause
// The provider "omx" as libfabric knows it, and its log. All functions are thread-safe.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <string>

#include "libfabric/plug_in.h"

namespace omx::fabric {

// The name and version. The entry point (entry_point.cc) adds the calls.
extern fi_provider g_provider;

// Writes a line to libfabric's log (FI_LOG_LEVEL) at level warn, and to the log file of Open-MX.
void warn(fi_log_subsys subsystem, const std::string& text);
// Writes a line to libfabric's log at level info.
void info(fi_log_subsys subsystem, const std::string& text);

// Logs why a call that opens, binds or changes an object fails, and returns -error. The level is warn. It is
// info if something is not implemented, because programs only try such calls.
int refuse(fi_log_subsys subsystem, int error, const std::string& why);

}  // namespace omx::fabric
