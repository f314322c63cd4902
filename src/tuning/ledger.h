// SPDX-License-Identifier: BSD-3-Clause
// A file with the former values of changed settings. A value is saved before it is changed, so that a killed
// `omx tune` can be undone. It stays until it is restored, so that a killed undo can be repeated.
#pragma once

#include <string>
#include <vector>

#include "base/mac.h"
#include "base/own_fd.h"
#include "tuning/setting.h"

namespace omx::tuning {

struct Saved {
  Setting setting;
  std::uint32_t index = 0;  // of the interface, which may be renamed or replaced; 0: none
  NicId nic = 0;
  std::string former;
};

// Returns whether `interface` is the one whose setting was saved. It may have another name or another address
// by now.
bool saved_of(const Saved& saved, const link::Interface& interface);

// Returns the name of the file for this network namespace. Interfaces of other namespaces may have equal
// names.
std::string ledger_name(std::string_view of = "tune");
inline constexpr const char* kLedgerFolder = "/run/open-mx";

class Ledger {
 public:
  // Makes the folder, reads the file, and locks both against other programs while the object lives. `boot` is
  // an id that each start of the machine has. Values saved under another id are forgotten, because the
  // restart undid the changes.
  static Result<Ledger> open(const std::string& folder, const std::string& name, const std::string& boot);

  const std::string& path() const { return path_; }
  const std::vector<Saved>& saved() const { return saved_; }

  // Saves a value. The value is on disk when the function returns. Only the first value of a setting is kept,
  // because that is the one to restore.
  Result<void> add(const Saved& saved);
  // Forgets all other values. Removes the file when none is left.
  Result<void> keep(const std::vector<Saved>& rest);

 private:
  Result<void> load();
  Result<void> append(const std::string& text);
  Failure failure(const char* what, int error) const;

  std::string path_;
  std::string header_;
  OwnFd folder_;  // carries the lock
  OwnFd file_;    // open once a value was saved
  std::vector<Saved> saved_;
};

}  // namespace omx::tuning
