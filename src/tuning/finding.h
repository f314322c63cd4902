// SPDX-License-Identifier: BSD-3-Clause
// The meaning of facts for message passing, and the changes that improve them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuning/setting.h"

namespace omx::tuning {

enum class Verdict { ok, better, unknown };

// Returns "ok", "could be better" or "unknown".
std::string_view verdict_text(Verdict verdict);

struct Change {
  Setting setting;
  std::string former;
  std::string wanted;
};

struct Finding {
  explicit Finding(std::string about, std::string found = "unknown")
      : subject(std::move(about)), value(std::move(found)) {}

  std::string subject;
  std::string value;
  Verdict verdict = Verdict::unknown;
  std::string meaning;                // one sentence
  std::vector<std::string> commands;  // commands that improve the value; empty when there is nothing to do
  std::vector<Change> changes;        // what `omx tune` changes, in this order; empty: improved by hand only
  std::vector<Setting> guards;        // settings that drivers may change along; they are restored, too
};

}  // namespace omx::tuning
