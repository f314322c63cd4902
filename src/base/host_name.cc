// SPDX-License-Identifier: BSD-3-Clause
#include "base/host_name.h"

#include <unistd.h>

namespace omx {

std::string host_name(const char* otherwise) {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || !*name) return otherwise;
  return name;
}

}  // namespace omx
