// SPDX-License-Identifier: BSD-3-Clause
// Changes the file of peers' names line by line and keeps its comments. Programs read the file when they
// start.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "base/mac.h"
#include "config/settings.h"

namespace omx::tools {

class PeersFile {
 public:
  // Reads the file. A file that does not exist counts as empty.
  static Result<PeersFile> load(const runtime::Settings& settings);

  const std::string& path() const { return path_; }
  // Returns the name that the file gives a NIC, or an empty string.
  std::string name_of(NicId nic) const;
  // Names or renames a NIC.
  void set(NicId nic, const std::string& name);
  // Removes all NICs but these. Returns how many were removed.
  unsigned keep_only(const std::vector<NicId>& nics);
  // Checks the whole content and replaces the old file in one step.
  Result<void> save() const;

 private:
  std::string path_;
  std::vector<std::string> lines_;
};

}  // namespace omx::tools
