// SPDX-License-Identifier: BSD-3-Clause
// The former values of what was changed, in a file. A value is there before it is changed, so that a killed
// `omx tune` can be undone; it stays until it was given back, so that a killed undo can be repeated.
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

// Whether `interface` is the one whose setting was saved. It may have another name, or another address.
bool saved_of(const Saved& saved, const link::Interface& interface);

// The file of this network namespace: interfaces of others have the same names.
std::string ledger_name(std::string_view of = "tune");
inline constexpr const char* kLedgerFolder = "/run/open-mx";

class Ledger {
 public:
  // Makes the folder, reads the file, and locks both against other programs as long as the object lives. What
  // was saved before `boot` (an id that each start of the machine has) is forgotten: it was undone by that.
  static Result<Ledger> open(const std::string& folder, const std::string& name, const std::string& boot);

  const std::string& path() const { return path_; }
  const std::vector<Saved>& saved() const { return saved_; }

  // Is on disk when it returns. The first value of a setting stays: that is the one to be given back.
  Result<void> add(const Saved& saved);
  // Forgets all others; the last removes the file.
  Result<void> keep(const std::vector<Saved>& rest);

 private:
  Result<void> load();
  Result<void> append(const std::string& text);
  Failure failure(const char* what, int error) const;

  std::string path_;
  std::string header_;
  OwnFd folder_;  // carries the lock
  OwnFd file_;    // open once something was saved
  std::vector<Saved> saved_;
};

}  // namespace omx::tuning
