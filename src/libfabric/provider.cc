// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/provider.h"

#include "base/log_file.h"
#include "libfabric/capabilities.h"
#include "libfabric/versions.h"

namespace omx::fabric {

fi_provider g_provider = {FI_VERSION(0, 1), kInterface, {}, "omx", nullptr, nullptr, nullptr};

void warn(fi_log_subsys subsystem, const std::string& text) {
  FI_WARN(&g_provider, subsystem, "%s\n", text.c_str());
  log_file_write("libfabric provider omx: warning: " + text + '\n');
}

void info(fi_log_subsys subsystem, const std::string& text) {
  FI_INFO(&g_provider, subsystem, "%s\n", text.c_str());
}

int refuse(fi_log_subsys subsystem, int error, const std::string& why) {
  if (error == FI_ENOSYS || error == FI_ENOPROTOOPT)
    info(subsystem, why);
  else
    warn(subsystem, why);
  return -error;
}

}  // namespace omx::fabric
