// SPDX-License-Identifier: BSD-3-Clause
// The file of peers' names, changed line by line: comments stay. Programs read it when they start.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "base/mac.h"
#include "config/settings.h"

namespace omx::tools {

class PeersFile {
 public:
  // What is there already; a file that is not there is empty.
  static Result<PeersFile> load(const runtime::Settings& settings);

  const std::string& path() const { return path_; }
  // The name that the file gives a NIC; empty: none.
  std::string name_of(NicId nic) const;
  // Names a NIC, or renames it.
  void set(NicId nic, const std::string& name);
  // Forgets all but these; returns how many.
  unsigned keep_only(const std::vector<NicId>& nics);
  // Checks the whole, and puts it in the place of the old file in one step.
  Result<void> save() const;

 private:
  std::string path_;
  std::vector<std::string> lines_;
};

}  // namespace omx::tools
